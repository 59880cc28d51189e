// From an answer to the sealed message that leaves, and to words that say what it holds.

import {
  randomizeCategory,
  randomizeColumn,
  randomizeItems,
  randomizeNumber,
  randomizeSubset,
  speaksFor,
} from "./randomize.js";
import { seal } from "./seal.js";
import { isCentral } from "./survey.js";
import { t } from "./texts.js";
import * as wire from "./wire.js";
import { asText, sureness } from "./words.js";

// A message may name half of 10,000 categories.
const MOST_LINES = 12;

/** Returns an answer of the form as numbers: the same ones for the same answer. */
export function answerNumbers(answer) {
  if (answer === null) return [];
  // Minus zero is zero.
  return [answer].flat().map((number) => number + 0).sort((one, other) => one - other);
}

/**
 * Draws the messages of an answer: what the analyst will see.
 *
 * @param survey From `read`.
 * @param {number} level The position of the level, or of the target.
 * @param {number[]} answer From `answerNumbers`.
 * @param rng The only source of randomness.
 * @returns {(number | number[])[]} Numbers; of subset selection, a set of categories.
 */
export function draw(survey, level, answer, rng) {
  const { question, choices } = survey.task;
  const { terms } = question;
  const epsilon = choices[level];
  // Targets are reported as they are, sealed and without a name.
  if (survey.step.stage === wire.Stage.choice) return [level];
  switch (question.statistic) {
    case "frequency":
      return [drawCategory(terms, answer[0], epsilon, rng)];
    case "mean":
      return [randomizeNumber(answer[0], terms.low, terms.high, epsilon, rng)];
    case "sum":
      return [randomizeNumber(answer[0], 0, 1, epsilon, rng)];
    case "items":
      return randomizeItems(answer, itemsPlan(survey), survey.plan.rates[level], rng);
    default:
      throw new RangeError("Expected a statistic that this page knows.");
  }
}

function drawCategory({ categories, mechanism, subset_size: size }, answer, epsilon, rng) {
  const count = categories.length;
  switch (mechanism) {
    case "kary-response":
      return randomizeCategory(answer, count, epsilon, rng);
    case "subset-selection":
      return randomizeSubset(answer, count, size, epsilon, rng);
    case "hadamard-response":
      return randomizeColumn(answer, count, epsilon, rng);
    default:
      throw new RangeError("Expected a mechanism that this page knows.");
  }
}

/** Returns a drawn message as it is before it is sealed. */
export function plainOf({ task }, message) {
  const { categories } = task.question.terms;
  return Array.isArray(message)
    ? wire.plainSet(message, categories.length)
    : wire.plainMessage(message);
}

/** Seals drawn messages, and returns the whole upload. */
export async function pack(survey, level, messages, token) {
  const { question } = survey.task;
  const linked = question.mode === "stratified" && survey.step.stage === wire.Stage.answer;
  const info = wire.messageInfo(survey.step, linked ? level : wire.UNLINKED);
  const plain = messages.map((message) => plainOf(survey, message));
  const sealed = await seal(survey.analystKey, info, plain);
  const place = isCentral(survey) ? wire.UNLINKED : level;
  return wire.upload(survey.step, survey.taskId, token, place, sealed);
}

/** Returns the lines that say what drawn messages hold. */
export function describe(survey, numbers) {
  const { question, choices } = survey.task;
  const { terms } = question;
  if (survey.step.stage === wire.Stage.choice) {
    return [t("at-most-sure", { sure: sureness(choices[numbers[0]]) })];
  }
  switch (question.statistic) {
    case "frequency":
      return describeCategory(terms, numbers[0]);
    case "mean":
      return numbers[0]
        ? [t("high-end", { number: asText(terms.high) })]
        : [t("low-end", { number: asText(terms.low) })];
    case "sum":
      return [numbers[0] ? t("yes") : t("no")];
    default:
      return describeItems(terms.categories, numbers);
  }
}

function describeCategory({ categories, mechanism }, message) {
  if (mechanism === "kary-response") return [categories[message]];
  const named =
    mechanism === "subset-selection"
      ? message.map((place) => categories[place])
      : categories.filter((_, place) => speaksFor(message, place));
  if (!named.length) return [t("no-answers")];
  const more = named.length - MOST_LINES;
  return more > 0 ? [...named.slice(0, MOST_LINES), t("and-more", { count: asText(more) })] : named;
}

function describeItems(categories, numbers) {
  const times = new Map();
  for (const number of numbers.filter((item) => item < categories.length)) {
    times.set(number, (times.get(number) ?? 0) + 1);
  }
  const named = [...times].sort(([one], [other]) => one - other);
  const lines = named.map(([item, count]) =>
    count > 1 ? t("times", { name: categories[item], count }) : categories[item],
  );
  const empty = numbers.length - [...times.values()].reduce((sum, count) => sum + count, 0);
  if (!empty) return lines;
  return [...lines, empty > 1 ? t("empty", { count: empty }) : t("one-empty")];
}

function itemsPlan({ task, plan }) {
  return {
    numItems: task.question.terms.categories.length,
    setSize: task.question.terms.set_size,
    blanket: plan.blanket,
    reportSize: plan.report_size,
  };
}
