// The form: how private, what answer, and the link if the page was opened without one.

import { formOf, hasTargets, readLink, refusalOf } from "shuffledp-device";

import { Missing, numberField, readNumber } from "./fields.js";
import { readParts } from "./several.js";
import { t } from "./texts.js";
import { asText, levelName, sureShare, sureness } from "./words.js";
import { choice, choices, details, el, picked } from "./view.js";

// Above this number of categories, a list that opens is easier than a page of choices.
const MANY = 12;

/** Returns the question about the level. */
export function levelPart(survey) {
  const { task } = survey;
  const central = hasTargets(survey);
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
        el("span", { class: "small" }, t("sure-before")),
        el("strong", {}, sureness(epsilon)),
        el("span", { class: "small" }, t("sure-after")),
      ),
      el("span", { class: "name" }, levelName(place, task.choices.length)),
      scale,
    );
  });
  return el(
    "fieldset",
    { id: "level" },
    el("legend", {}, t("level-question")),
    el("p", { class: "hint" }, central ? t("level-hint-central") : t("level-hint")),
    el("div", { class: "choices levels" }, ...cards),
    el(
      "p",
      { class: "hint ends", "aria-hidden": "true" },
      el("span", {}, t("scale-low")),
      el("span", {}, t("scale-high")),
    ),
    details(t("in-numbers"), levelTable(task, central)),
  );
}

function levelTable(task, central) {
  const names = central
    ? [t("column-level"), t("column-central")]
    : [t("column-level"), t("column-local"), t("column-central")];
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
    el("p", { class: "hint" }, t("numbers-hint", { delta: asText(task.delta) })),
  );
}

/** Returns the one question itself; null in the step that asks for levels alone. */
export function answerPart(survey) {
  if (survey.isChoosing) return null;
  const form = formOf(survey.task);
  return ANSWER_PARTS[form.kind](form, survey);
}

const ANSWER_PARTS = {
  "one of": oneOfPart,
  "some of": someOfPart,
  number: numberPart,
  "yes or no": () => answerField(t("answer"), choices("answer", [t("yes"), t("no")])),
};

function answerField(legend, ...parts) {
  return el("fieldset", { id: "answer" }, el("legend", {}, legend), ...parts);
}

function numberPart(form) {
  return answerField(t("answer"), ...numberField("number", form));
}

function oneOfPart({ options }, { textLanguage: lang }) {
  if (options.length <= MANY) return answerField(t("answer"), choices("answer", options, { lang }));
  return answerField(
    t("answer"),
    el("label", { for: "category" }, t("category-label", { count: asText(options.length) })),
    el(
      "select",
      { id: "category", autocomplete: "off" },
      el("option", { value: "" }, t("choose")),
      ...options.map((text, place) => el("option", { value: place, lang }, text)),
    ),
  );
}

function someOfPart({ options, most }, { textLanguage: lang }) {
  const count = el("p", { class: "hint", "aria-live": "polite" });
  const tell = () => {
    count.textContent = t("items-count", { count: picked("answer").length, most });
  };
  const part = answerField(
    most === 1 ? t("answer") : t("answers", { most }),
    choices("answer", options, { kind: "checkbox", onchange: tell, lang }),
    count,
  );
  count.textContent = t("items-count", { count: 0, most });
  return part;
}

/** Returns the field for a link, which is needed if the page was opened without one. */
export function linkPart() {
  return el(
    "fieldset",
    { id: "link-part" },
    el("legend", {}, t("link")),
    el("label", { for: "link" }, t("link-label")),
    el("input", {
      id: "link",
      type: "text",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
    }),
  );
}

/** Returns what was filled in; throws Missing. */
export function readForm(survey, known) {
  const level = readLevel();
  const answer = survey.isChoosing ? null : readAnswer(formOf(survey.task));
  return { level, answer, invitation: readInvitation(survey, known) };
}

/** Returns the position of the chosen level; throws Missing. */
export function readLevel() {
  const [level] = picked("level");
  if (level === undefined) throw new Missing(t("missing-level"), "level");
  return level;
}

/** Returns what a link says, of the page or pasted; throws Missing. */
export function readInvitation(survey, known) {
  const link = known ?? readLink(document.getElementById("link").value);
  const problem = link ? refusalOf(survey, link) : "missing-link";
  if (problem) throw new Missing(t(problem), "link-part");
  return link;
}

function readAnswer(form) {
  if (form.kind === "several") return readParts(form);
  const places = picked("answer");
  if (form.kind === "some of") {
    if (places.length > form.most) {
      throw new Missing(t("missing-items", { most: form.most }), "answer");
    }
    return places;
  }
  if (form.kind === "number") return readNumber("number", form, "answer");
  const list = document.getElementById("category");
  const place = list ? (list.value === "" ? undefined : Number(list.value)) : places[0];
  if (place === undefined) throw new Missing(t("missing-answer"), "answer");
  // Yes comes first on the screen, and is 1 on the wire.
  return form.kind === "yes or no" ? 1 - place : place;
}
