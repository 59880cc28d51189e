// What the page says of an answer.

import { intervalPicture } from "/pictures.mjs";

const found = (id) => document.getElementById(id);
const counted = (number) => number.toLocaleString("en");

export function refuse(sentence) {
  found("result").hidden = true;
  found("status").textContent = "";
  found("refused").textContent = sentence;
  found("refused").hidden = false;
}

// Nothing is known yet, and what was known before is old.
export function wait() {
  found("status").textContent = "Computing: nothing is certified yet …";
  found("result").hidden = true;
  found("refused").hidden = true;
}

function listed(id, sentences) {
  found(id).replaceChildren(
    ...sentences.map((sentence) => {
      const item = document.createElement("li");
      item.textContent = sentence;
      return item;
    }),
  );
}

// Fills a table; the first of each row's texts is its name.
export function tabulate(id, texts) {
  found(id).replaceChildren(
    ...texts.map(([first, ...others]) => {
      const row = document.createElement("tr");
      const name = document.createElement("th");
      name.scope = "row";
      name.textContent = first;
      row.append(name);
      for (const text of others) row.insertCell().textContent = text;
      return row;
    }),
  );
}

// What is certified at once: no attack yet, and nothing that belongs to the tight number.
export function showQuick(answer, text) {
  found("status").textContent = `Certified for ${counted(answer.num_users)} people, and being tightened: the numbers may only get smaller …`;
  found("caption").textContent = `After the shuffle, at delta ${answer.delta}: certified, being tightened`;
  found("profiles").textContent = "Being computed …";
  fill(answer, text, { ...answer, cautions: [], assumptions: [], theorem: "" });
  found("answer").dataset.shows = "quick";
}

export function show(answer, text) {
  found("status").textContent = `Certified for ${counted(answer.num_users)} people.`;
  found("caption").textContent = `After the shuffle, at delta ${answer.delta}`;
  fill(answer, text, answer);
  found("answer").dataset.shows = "answer";
}

function fill(answer, text, { cautions, assumptions, theorem }) {
  found("refused").hidden = true;
  tabulate("rows", answer.levels.map((level) => [level.level, counted(level.people), level.certified, level.attack ?? "…"]));
  for (const row of found("rows").rows) row.cells[2].className = "certified";
  listed("cautions", cautions);
  listed("assumptions", assumptions);
  found("theorem").textContent = theorem;
  showError(answer);
  found("command").textContent = answer.command;
  found("python").textContent = answer.python;
  found("certificate").href = `/certificate.json?${text}`;
  found("result").hidden = false;
}

function showError({ error }) {
  if (error.refused !== undefined) {
    found("error").textContent = error.refused;
    found("interval").replaceChildren();
    return;
  }
  const { factor, suffix } = error;
  const said = (value) => (factor === 1 ? value.toPrecision(4) : (factor * value).toPrecision(3)) + suffix;
  const [low, high] = error.interval.map(said);
  const bias = error.bias > 0 ? ` If values differ the estimate is biased, by up to ${said(error.bias)}.` : "";
  const sentence = `${said(error.value)} would be estimated with a standard error of `
    + `${said(error.standard_error)}: a 95% interval such as ${low} to ${high}.${bias}`;
  found("error").textContent = sentence;
  found("interval").replaceChildren(intervalPicture(error, sentence));
}
