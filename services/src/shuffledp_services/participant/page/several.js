// Several questions: the fields of each, and what was answered.

import { askedQuestions, isNumber } from "shuffledp-device";

import { Missing, numberField, readNumber } from "./fields.js";
import { t } from "./texts.js";
import { choice, choices, el, picked } from "./view.js";

const idOf = (place) => `answer-${place}`;

/** Returns a fieldset for each question that people are asked. */
export function questionParts({ parts }, lang) {
  const questions = askedQuestions(parts);
  return questions.map((question, place) => {
    const progress = t("question-of", { place: place + 1, count: questions.length });
    const legend = el(
      "legend",
      {},
      el("span", { class: "progress" }, progress),
      el("h1", { lang, dir: "auto" }, question.text),
    );
    return el("fieldset", { id: idOf(place) }, legend, ...fieldsOf(question, place, lang));
  });
}

function fieldsOf(question, place, lang) {
  const name = idOf(place);
  if (isNumber(question)) {
    const fields = numberField(`number-${place}`, question, { lang });
    return question.skippable ? withSkip(fields, name) : fields;
  }
  const { options, most } = question;
  // Nothing is told by a question that is left out: it sends as many messages as others.
  if (most === 1) {
    const none = choice(name, options.length, "radio", () => {}, t("skip"));
    const list = choices(name, options, { lang });
    list.append(none);
    return [list];
  }
  const count = el("p", { class: "hint", "aria-live": "polite" });
  const tell = () => {
    count.textContent = t("items-count", { count: picked(name).length, most });
  };
  tell();
  return [choices(name, options, { kind: "checkbox", onchange: tell, lang }), count];
}

/** Returns fields with a choice below them to leave them out. */
function withSkip(fields, name) {
  const input = fields.find((field) => field.matches("input"));
  const tell = ({ target }) => {
    // What was typed stays there, for people who change their mind.
    input.disabled = target.checked;
  };
  const skip = el("div", { class: "choices skip" }, choice(name, 0, "checkbox", tell, t("skip")));
  return [...fields, skip, el("p", { class: "hint" }, t("skip-hint"))];
}

/** Returns what was answered: options, or a number, or null if it was skipped; throws Missing. */
export function readPart(question, place) {
  const name = idOf(place);
  if (isNumber(question)) {
    return picked(name).length ? null : readNumber(`number-${place}`, question, name);
  }
  const { options, most } = question;
  const own = picked(name);
  if (most === 1 && !own.length) throw new Missing(t("missing-part"), name);
  if (own.length > most) throw new Missing(t("missing-items", { most }), name);
  return own.filter((option) => option < options.length);
}

/** Checks the answer to a question; throws Missing. */
export function checkPart({ parts }, place) {
  readPart(askedQuestions(parts)[place], place);
}

/** Returns the options that were picked, counted over all choices, and the numbers. */
export function readParts({ parts }) {
  const [options, numbers] = [[], []];
  let first = 0;
  askedQuestions(parts).forEach((question, place) => {
    const answer = readPart(question, place);
    if (isNumber(question)) numbers.push(answer);
    else {
      options.push(...answer.map((option) => first + option));
      first += question.options.length;
    }
  });
  return { picked: options, numbers };
}
