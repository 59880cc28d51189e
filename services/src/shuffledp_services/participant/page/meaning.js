// What messages say, in words: before an answer is given, once one is drawn, and of it.

import { isNumber, meaningKind, meaningOf } from "shuffledp-device";

import { t } from "./texts.js";
import { asText, sureness } from "./words.js";

// A message may name half of 10,000 categories.
const MOST_LINES = 12;

const LEADS = {
  "one option": "lead-one",
  "several options": "lead-several",
  "grid number": "lead-grid",
  "end of range": "lead-mean",
  "yes or no": "lead-one",
  "counted options": "lead-items",
  "counted cells": "lead-items",
};

const DESCRIBED = {
  "one option": ({ options: [option] }, { categories }) => [categories[option]],
  "several options": ({ options }, { categories }) =>
    describeSeveral(options.map((option) => categories[option])),
  "grid number": ({ number }) => [asText(number)],
  "end of range": ({ isHigh }, { low, high }) =>
    isHigh ? [t("high-end", { number: asText(high) })] : [t("low-end", { number: asText(low) })],
  "yes or no": ({ isYes }) => [isYes ? t("yes") : t("no")],
  "counted options": ({ sent, empty }, { categories }) => [
    ...sent.map(({ option, times }) => timesOf(categories[option], times)),
    ...emptyParts(empty),
  ],
  "counted cells": ({ sent, empty }, { questions }) => [
    ...sent.map(({ cells, times }) => timesOf(nameOf(cells, questions), times)),
    ...emptyParts(empty),
  ],
};

/** Returns a sentence about what happens to an answer. */
export function leadText({ isChoosing, task }) {
  return t(isChoosing ? "lead-choice" : LEADS[meaningKind(task)]);
}

/** Returns the lines that describe a report. */
export function describe({ survey: { isChoosing, task }, level, messages }) {
  if (isChoosing) return [t("at-most-sure", { sure: sureness(task.choices[level]) })];
  const meaning = meaningOf(task, messages);
  return DESCRIBED[meaning.kind](meaning, task.question.terms);
}

/** Returns sentences about the information of a report on the answer. */
export function aboutReport({ survey: { isChoosing, task }, level }) {
  if (isChoosing) return [t("about-choice")];
  const sure = sureness(task.choices[level]);
  switch (meaningKind(task)) {
    case "several options":
      return [t("about-several", { sure })];
    case "grid number":
      return [t("about-grid"), t("about-one", { sure })];
    case "end of range":
      return [t("about-end"), t("about-one", { sure })];
    case "counted options":
      return [t("about-items", { sure })];
    case "counted cells": {
      const hasNumbers = task.question.terms.questions.some(isNumber);
      return [...(hasNumbers ? [t("about-counters")] : []), t("about-items", { sure })];
    }
    default:
      return [t("about-one", { sure })];
  }
}

function describeSeveral(names) {
  if (!names.length) return [t("no-answers")];
  const more = names.length - MOST_LINES;
  return more > 0 ? [...names.slice(0, MOST_LINES), t("and-more", { count: asText(more) })] : names;
}

function timesOf(name, count) {
  return count > 1 ? t("times", { name, count }) : name;
}

function emptyParts(count) {
  if (!count) return [];
  return [count > 1 ? t("empty", { count }) : t("one-empty")];
}

/** Returns the name of a bucket: options are named, and buckets of numbers counted. */
function nameOf(cells, questions) {
  const names = cells.map(({ question, group, bucket }) => {
    const { text, options } = questions[question];
    if (!options) return t("counter", { text, group: group + 1, bucket: bucket + 1 });
    return questions.length > 1 ? `${text} ${options[bucket]}` : options[bucket];
  });
  return names.join(" & ");
}
