// The form: how private, what answer, and the code where the link held none.

import { isCentral } from "./survey.js";
import { TOKEN_SIZE, Stage, fromText } from "./wire.js";
import { asText, levelName, sureShare, sureness } from "./words.js";
import { choice, choices, details, el, picked } from "./view.js";

// Beyond so many categories, a list that opens is easier than a page of choices.
const MANY = 12;

/** What is missing in the form, for people to read; `at` is where. */
export class Missing extends Error {
  constructor(text, at) {
    super(text);
    this.at = at;
  }
}

/** Returns the question about the level. */
export function levelPart(survey) {
  const { task } = survey;
  const central = isCentral(survey);
  const who = central
    ? "Imagine somebody who studies everybody's messages after they were mixed"
    : "Imagine somebody who reads your message";
  const cards = task.choices.map((epsilon, place) => {
    const scale = el("span", { class: "scale", "aria-hidden": "true" }, el("span"));
    scale.firstChild.style.setProperty("--share", sureShare(epsilon));
    return choice(
      "level",
      place,
      "radio",
      () => {},
      el(
        "span",
        { class: "sure" },
        el("span", { class: "small" }, "at most "),
        el("strong", {}, sureness(epsilon)),
        el("span", { class: "small" }, " sure"),
      ),
      el("span", { class: "name" }, levelName(place, task.choices.length)),
      scale,
    );
  });
  return el(
    "fieldset",
    { id: "level" },
    el("legend", {}, "How much could anyone learn about you?"),
    el(
      "p",
      { class: "hint" },
      `${who}, and who wonders about a yes-or-no fact about your answer. Before, she found ` +
        `it as likely as not: 50%. After, ${central ? "rare cases aside, " : ""}she can be`,
    ),
    el("div", { class: "choices levels" }, ...cards),
    el(
      "p",
      { class: "hint ends", "aria-hidden": "true" },
      el("span", {}, "50%, a guess"),
      el("span", {}, "100%, certain"),
    ),
    details("The same in numbers", levelTable(task, central)),
  );
}

function levelTable(task, central) {
  const names = central
    ? ["Level", "Epsilon after mixing"]
    : ["Level", "Epsilon of your message", "Epsilon after mixing"];
  const rows = task.choices.map((level, place) => [
    sureness(level),
    ...(central ? [] : [asText(level)]),
    asText(task.promise[place]),
  ]);
  return el(
    "div",
    {},
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name))),
      ),
      el(
        "tbody",
        {},
        ...rows.map(([first, ...rest]) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, first),
            ...rest.map((cell) => el("td", {}, cell)),
          ),
        ),
      ),
    ),
    el(
      "p",
      { class: "hint" },
      `After mixing, at delta = ${task.delta}: a promise about what is handed on, which ` +
        "counts on enough people taking part. Until there are enough, nothing is handed on.",
    ),
  );
}

/** Returns the question itself; null in the step that asks for levels alone. */
export function answerPart(survey) {
  const { question } = survey.task;
  const { terms } = question;
  if (survey.step.stage === Stage.choice) return null;
  const legend = (text) => el("legend", {}, text);
  if (question.statistic === "sum") {
    return el("fieldset", { id: "answer" }, legend("Your answer"), choices("answer", ["Yes", "No"]));
  }
  if (question.statistic === "mean") {
    return el(
      "fieldset",
      { id: "answer" },
      legend("Your answer"),
      el(
        "label",
        { for: "number" },
        `A number from ${asText(terms.low)} to ${asText(terms.high)}`,
      ),
      el("input", {
        id: "number",
        type: "text",
        inputmode: terms.low < 0 ? "text" : "decimal",
        autocomplete: "off",
      }),
    );
  }
  if (question.statistic === "items") return itemsPart(terms);
  if (terms.categories.length <= MANY) {
    return el(
      "fieldset",
      { id: "answer" },
      legend("Your answer"),
      choices("answer", terms.categories),
    );
  }
  return el(
    "fieldset",
    { id: "answer" },
    legend("Your answer"),
    el("label", { for: "category" }, `One of ${asText(terms.categories.length)}`),
    el(
      "select",
      { id: "category", autocomplete: "off" },
      el("option", { value: "" }, "Choose"),
      ...terms.categories.map((text, place) => el("option", { value: place }, text)),
    ),
  );
}

function itemsPart({ categories, set_size: most }) {
  const count = el("p", { class: "hint", "aria-live": "polite" });
  const tell = () => {
    count.textContent = `${picked("answer").length} of at most ${most} chosen`;
  };
  const part = el(
    "fieldset",
    { id: "answer" },
    el("legend", {}, most === 1 ? "Your answer" : `Your answers, up to ${most}`),
    choices("answer", categories, { kind: "checkbox", onchange: tell }),
    count,
  );
  count.textContent = `0 of at most ${most} chosen`;
  return part;
}

/** Returns the field for the code, which is needed if the link held none. */
export function tokenPart() {
  return el(
    "fieldset",
    { id: "code" },
    el("legend", {}, "Your code"),
    el(
      "label",
      { for: "token" },
      "You were given a link that ends with a code, or the code alone: 43 letters.",
    ),
    el("input", {
      id: "token",
      type: "text",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
    }),
  );
}

/** Returns what was filled in; throws Missing. */
export function readForm(survey, known) {
  const [level] = picked("level");
  if (level === undefined) throw new Missing("Choose a level first.", "level");
  const answer = survey.step.stage === Stage.choice ? null : readAnswer(survey.task.question);
  const token = known ?? tokenOf(document.getElementById("token").value);
  if (!token) {
    throw new Missing("This is no code: it has 43 letters, digits, - and _.", "code");
  }
  return { level, answer, token };
}

function readAnswer({ statistic, terms }) {
  const places = picked("answer");
  if (statistic === "items") {
    if (places.length > terms.set_size) {
      throw new Missing(`Choose at most ${terms.set_size} answers.`, "answer");
    }
    return places;
  }
  if (statistic === "mean") {
    const text = document.getElementById("number").value.trim().replace(",", ".");
    const number = text === "" ? NaN : Number(text);
    if (!(number >= terms.low && number <= terms.high)) {
      const ends = `${asText(terms.low)} to ${asText(terms.high)}`;
      throw new Missing(`Write a number from ${ends}.`, "answer");
    }
    return number;
  }
  const list = document.getElementById("category");
  const place = list ? (list.value === "" ? undefined : Number(list.value)) : places[0];
  if (place === undefined) throw new Missing("Choose an answer first.", "answer");
  // Yes comes first on the screen, and is 1 on the wire.
  return statistic === "sum" ? 1 - place : place;
}

/** Returns the 32 bytes of a code, or of a link that ends with one; null if there are none. */
export function tokenOf(text) {
  const letters = /(?:^|token=)([A-Za-z0-9_-]+)(?:&task=[0-9a-f]*)?$/.exec(text.trim());
  return letters && fromText(letters[1], TOKEN_SIZE);
}

/** Returns the digest of the task that a link invites to; null if it names none. */
export function taskOf(text) {
  return /&task=([0-9a-f]{64})$/.exec(text.trim())?.[1] ?? null;
}
