// The page: its controls are the address, and the address is what the server is asked.

import { intervalPicture, profilesPicture } from "/pictures.mjs";

const MECHANISMS = {
  frequency: { "kary-response": "k-ary response", "hadamard-response": "Hadamard response", "unary-encoding": "Unary encoding" },
  mean: { "one-bit": "One bit", laplace: "Laplace" },
};
const USUAL = "0.5:2500,1:5000,2:2500";
const MAX_LEVELS = 12;
// A slider goes from 1 person to a thousand million, in steps of a fiftieth of a power of ten.
const STEPS = 450;
const PER_POWER = 50;
// An answer that takes longer is said to be on its way, and the old one goes.
const PATIENCE = 150;
// What people do while a slider moves is one step for the back button.
const QUIET = 600;

const found = (id) => document.getElementById(id);
const form = found("controls");
const field = (name) => form.elements.namedItem(name);
const counted = (number) => number.toLocaleString("en");

let asking = null;
let stepping = null;

function peopleAt(step) {
  const people = 10 ** (step / PER_POWER);
  // Two digits: nobody means more with a slider.
  return Number(people.toPrecision(2)) < 10 ? Math.round(people) : Number(people.toPrecision(2));
}

function stepOf(people) {
  return Math.round(PER_POWER * Math.log10(Math.max(Number(people), 1)));
}

function labeled(text, input, kind = "") {
  const label = document.createElement("label");
  label.className = kind;
  label.append(text, input);
  return label;
}

function input(attributes) {
  const element = document.createElement("input");
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function addLevel(level, people) {
  const row = document.createElement("li");
  const budget = input({ type: "number", min: 0, max: 20, step: "any", value: level });
  const number = input({ type: "number", min: 1, max: 1e10, step: 1, value: people });
  const slider = input({ type: "range", min: 0, max: STEPS, step: 1, value: stepOf(people) });
  budget.className = "level";
  number.className = "people";
  const remove = document.createElement("button");
  remove.type = "button";
  remove.textContent = "×";
  const name = () => {
    remove.setAttribute("aria-label", `Remove level ${budget.value}`);
    number.setAttribute("aria-label", `People at level ${budget.value}`);
    slider.setAttribute("aria-label", `People at level ${budget.value}, slider`);
    slider.setAttribute("aria-valuetext", `${counted(Number(number.value))} people`);
  };
  slider.addEventListener("input", () => {
    number.value = peopleAt(Number(slider.value));
  });
  number.addEventListener("input", () => {
    slider.value = stepOf(number.value);
  });
  row.addEventListener("input", name);
  remove.addEventListener("click", () => {
    row.remove();
    found("add").focus();
    changed();
  });
  row.append(labeled("Epsilon", budget), labeled("People", number), remove, labeled("", slider, "slide"));
  found("levels").append(row);
  name();
}

function rows() {
  return [...found("levels").children];
}

function levelsText() {
  return rows()
    .map((row) => `${row.querySelector(".level").value}:${row.querySelector(".people").value}`)
    .join(",");
}

// Lists mechanisms of the statistic, and shows what it has to be told.
function suit() {
  const statistic = field("statistic").value;
  const mechanism = field("mechanism");
  const before = mechanism.value;
  mechanism.replaceChildren(
    ...Object.entries(MECHANISMS[statistic]).map(([value, text]) => new Option(text, value)),
  );
  if (before in MECHANISMS[statistic]) mechanism.value = before;
  for (const label of form.querySelectorAll("[data-of]")) label.hidden = label.dataset.of !== statistic;
  found("valued").textContent = statistic === "mean" ? "Mean to estimate" : "Share to estimate";
}

function limit() {
  const all = rows();
  found("add").disabled = all.length >= MAX_LEVELS;
  for (const row of all) row.querySelector("button").disabled = all.length === 1;
}

function query() {
  const given = new URLSearchParams();
  const statistic = field("statistic").value;
  for (const name of ["statistic", "mechanism", "mode", "categories", "low", "high"]) {
    const of = field(name).closest("label").dataset.of;
    if (of === undefined || of === statistic) given.set(name, field(name).value);
  }
  given.set("levels", levelsText());
  for (const name of ["delta", "absent", "rounds", "value"]) given.set(name, field(name).value);
  return given.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
}

// Sets the controls to what an address says.
function read(address) {
  const given = new URLSearchParams(address);
  for (const name of ["statistic", "mode", "categories", "low", "high", "delta", "absent", "rounds"]) {
    const usual = field(name).tagName === "SELECT" ? field(name).options[0].value : field(name).defaultValue;
    field(name).value = given.get(name) ?? usual;
  }
  suit();
  field("mechanism").value = given.get("mechanism") ?? field("mechanism").options[0].value;
  const middle = (Number(field("low").value) + Number(field("high").value)) / 2;
  field("value").value = given.get("value") ?? (field("statistic").value === "mean" ? middle : 0.2);
  found("levels").replaceChildren();
  for (const part of (given.get("levels") ?? USUAL).split(",").slice(0, MAX_LEVELS)) {
    addLevel(...part.split(":", 2));
  }
  limit();
}

function changed() {
  limit();
  // The first change after a pause is a step back; those that follow at once belong to it,
  // and are written after them: browsers take so many addresses and no more.
  if (stepping === null) history.pushState(null, "", `?${query()}`);
  clearTimeout(stepping);
  stepping = setTimeout(settle, QUIET);
  ask(query());
}

class Refused extends Error {}

function settle() {
  stepping = null;
  history.replaceState(null, "", `?${query()}`);
}

async function asked(path, text, signal) {
  const response = await fetch(`/${path}?${text}`, { signal });
  const content = await response.json();
  if (!response.ok) throw new Refused(content.detail);
  return content;
}

// Takes long, and so is asked for by a button; what changes takes the answer away.
async function askPlanner() {
  const { signal } = asking;
  found("plan").hidden = true;
  found("planned").textContent = "Computing: this may take a minute …";
  try {
    const plan = await asked("plan", query(), signal);
    if (signal.aborted) return;
    found("planned").textContent = [plan.reason, ...plan.left_out.map((why) => `Left out: ${why}`)].join(" ");
    tabulate("options", plan.options.map(({ name, mode, error, worst }) => [name, mode === "agnostic" ? "apart" : "with messages", error, worst]));
    found("plan").hidden = false;
  } catch (error) {
    if (!signal.aborted) found("planned").textContent = reason(error);
  }
}

async function ask(text) {
  asking?.abort();
  found("planned").textContent = "";
  found("plan").hidden = true;
  asking = new AbortController();
  const { signal } = asking;
  found("answer").setAttribute("aria-busy", "true");
  const late = setTimeout(() => {
    found("status").textContent = "Computing: nothing is certified yet …";
    found("result").hidden = true;
    found("refused").hidden = true;
  }, PATIENCE);
  try {
    const answer = await asked("answer", text, signal);
    if (signal.aborted) return;
    show(answer, text);
  } catch (error) {
    if (signal.aborted) return;
    refuse(reason(error));
    return;
  } finally {
    clearTimeout(late);
    if (!signal.aborted) found("answer").setAttribute("aria-busy", "false");
  }
  found("profiles").textContent = "Computing: of several rounds this may take a minute …";
  try {
    const { profiles } = await asked("profiles", text, signal);
    if (!signal.aborted) found("profiles").replaceChildren(profilesPicture(profiles));
  } catch (error) {
    if (!signal.aborted) found("profiles").textContent = reason(error);
  }
}

function reason(error) {
  return error instanceof Refused
    ? error.message
    : "The server does not answer: start shuffledp explore again.";
}

function refuse(sentence) {
  found("result").hidden = true;
  found("status").textContent = "";
  found("refused").textContent = sentence;
  found("refused").hidden = false;
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
function tabulate(id, texts) {
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

function show(answer, text) {
  found("refused").hidden = true;
  found("status").textContent = `Certified for ${counted(answer.num_users)} people.`;
  found("caption").textContent = `After the shuffle, at delta ${answer.delta}`;
  tabulate("rows", answer.levels.map((level) => [level.level, counted(level.people), level.certified, level.attack]));
  for (const row of found("rows").rows) row.cells[2].className = "certified";
  listed("cautions", answer.cautions);
  listed("assumptions", answer.assumptions);
  found("theorem").textContent = answer.theorem;
  showError(answer.error);
  found("command").textContent = answer.command;
  found("python").textContent = answer.python;
  found("certificate").href = `/certificate.json?${text}`;
  found("result").hidden = false;
}

function showError(error) {
  if (error.refused !== undefined) {
    found("error").textContent = error.refused;
    found("interval").replaceChildren();
    return;
  }
  const share = field("statistic").value === "frequency";
  const said = (value) => (share ? `${(100 * value).toPrecision(3)}%` : value.toPrecision(4));
  const [low, high] = error.interval.map(said);
  const sentence = `${said(error.value)} would be estimated with a standard error of `
    + `${said(error.standard_error)}: a 95% interval such as ${low} to ${high}.`;
  found("error").textContent = sentence;
  found("interval").replaceChildren(intervalPicture(error, sentence));
}

field("statistic").addEventListener("input", () => {
  suit();
  field("value").value = field("statistic").value === "mean" ? 5 : 0.2;
  if (field("statistic").value === "mean") {
    field("low").value = 0;
    field("high").value = 10;
  }
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", changed);
found("add").addEventListener("click", () => {
  const last = Math.max(...rows().map((row) => Number(row.querySelector(".level").value)));
  addLevel(Math.min(last + 0.5, 20), 1000);
  found("levels").lastElementChild.querySelector(".level").focus();
  changed();
});
found("ask-planner").addEventListener("click", askPlanner);
addEventListener("popstate", () => {
  clearTimeout(stepping);
  stepping = null;
  read(location.search);
  ask(query());
});

read(location.search);
// A link that makes no sense is refused as it stands.
ask(location.search.slice(1) || query());
