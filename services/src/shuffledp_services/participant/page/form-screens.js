// The screens of a form of several questions: how private, each question, and a summary.

import { askedQuestions, isNumber } from "shuffledp-device";

import { Missing } from "./fields.js";
import { readInvitation, readLevel } from "./form.js";
import { screensOf } from "./screens.js";
import { checkPart, questionParts, readPart } from "./several.js";
import { t } from "./texts.js";
import { asText, sureness } from "./words.js";
import { el } from "./view.js";

/**
 * Returns the screens of a form.
 *
 * @param survey From `inLanguage`.
 * @param form Of several questions.
 * @param invited What the page's link says, or null.
 * @param {{begin: Element[], end: Element[], complain: (missing: Missing) => void, clear: () => void}}
 *   parts What stands on the first and the last screen, and what tells about missing answers.
 */
export function formScreens(survey, form, invited, { begin, end, complain, clear }) {
  const { task, textLanguage: lang } = survey;
  const summary = el("div", {});
  const contents = [
    begin,
    ...questionParts(form, lang).map((part) => [part]),
    [el("h1", {}, t("summary-title")), summary, ...end],
  ];
  const sections = contents.map((parts) => el("section", {}, ...parts));
  const screens = screensOf(sections, {
    complain,
    missingOn: (place) =>
      missingIn(() => {
        if (place > 0) return checkPart(form, place - 1);
        readLevel();
        return readInvitation(survey, invited);
      }),
    entered: (place) => {
      clear();
      if (place < sections.length - 1) return;
      const change = (question) => screens.change(question + 1);
      summary.replaceChildren(...summaryOf(form, task.choices[readLevel()], change, lang));
    },
  });
  return screens;
}

/** Returns what is missing where something is read; null if nothing is. */
export function missingIn(reading) {
  try {
    reading();
    return null;
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    return error;
  }
}

/** Returns all answers, and what they cost together. */
function summaryOf({ parts }, epsilon, change, lang) {
  const text = { lang, dir: "auto" };
  const questions = askedQuestions(parts);
  const rows = questions.flatMap((question, place) => [
    el("dt", text, question.text),
    el(
      "dd",
      {},
      answerText(question, readPart(question, place), text),
      el(
        "button",
        {
          type: "button",
          class: "change",
          "aria-label": t("change-answer", { question: question.text }),
          onclick: () => change(place),
        },
        t("change"),
      ),
    ),
  ]);
  const together = parts
    .filter(({ of }) => of !== undefined)
    .map(({ of }) => el("li", text, of.map((place) => parts[place].text).join(" & ")));
  const cost = t("cost-all", { sure: sureness(epsilon), count: questions.length });
  return [
    el("dl", { id: "answers" }, ...rows),
    el("h2", {}, t("cost-title")),
    el("p", { id: "cost" }, cost),
    ...(together.length
      ? [el("p", {}, t("cost-together")), el("ul", { id: "together" }, ...together)]
      : []),
  ];
}

function answerText(question, answer, text) {
  if (answer === null || answer.length === 0) return el("span", {}, t("no-answer"));
  if (isNumber(question)) return el("span", text, `${asText(answer)} ${question.unit}`.trim());
  return el("span", text, answer.map((option) => question.options[option]).join(", "));
}
