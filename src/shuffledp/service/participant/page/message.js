// From an answer to the sealed message that leaves, and to words that say what it holds.

import { randomizeCategory, randomizeItems, randomizeNumber } from "./randomize.js";
import { seal } from "./seal.js";
import { isCentral } from "./survey.js";
import * as wire from "./wire.js";
import { asText, sureness } from "./words.js";

/**
 * Draws the message of an answer: what the analyst will see, as numbers.
 *
 * @param survey From `read`.
 * @param {number} level The position of the level, or of the target.
 * @param answer A category's position, a number, 0 or 1, or positions of items.
 * @param rng The only source of randomness.
 * @returns {number[]}
 */
export function draw(survey, level, answer, rng) {
  const { question, choices } = survey.task;
  const { terms } = question;
  const epsilon = choices[level];
  // Targets are reported as they are, sealed and without a name.
  if (survey.step.stage === wire.Stage.choice) return [level];
  switch (question.statistic) {
    case "frequency":
      return [randomizeCategory(answer, terms.categories.length, epsilon, rng)];
    case "mean":
      return [randomizeNumber(answer, terms.low, terms.high, epsilon, rng)];
    case "sum":
      return [randomizeNumber(answer, 0, 1, epsilon, rng)];
    case "items":
      return randomizeItems(answer, itemsPlan(survey), survey.plan.rates[level], rng);
    default:
      throw new RangeError("Expected a statistic that this page knows.");
  }
}

/** Seals a drawn message, and returns the whole upload. */
export async function pack(survey, level, numbers, token) {
  const { question } = survey.task;
  const linked = question.mode === "stratified" && survey.step.stage === wire.Stage.answer;
  const info = wire.messageInfo(survey.step, linked ? level : wire.UNLINKED);
  const sealed = await seal(survey.analystKey, info, numbers.map(wire.plainMessage));
  const place = isCentral(survey) ? wire.UNLINKED : level;
  return wire.upload(survey.step, survey.taskId, token, place, sealed);
}

/** Returns the lines that say what a drawn message holds. */
export function describe(survey, numbers) {
  const { question, choices } = survey.task;
  const { terms } = question;
  if (survey.step.stage === wire.Stage.choice) {
    return [`At most ${sureness(choices[numbers[0]])} sure`];
  }
  switch (question.statistic) {
    case "frequency":
      return [terms.categories[numbers[0]]];
    case "mean":
      return numbers[0]
        ? [`${asText(terms.high)}, the high end`]
        : [`${asText(terms.low)}, the low end`];
    case "sum":
      return [numbers[0] ? "Yes" : "No"];
    default:
      return describeItems(terms.categories, numbers);
  }
}

function describeItems(categories, numbers) {
  const times = new Map();
  for (const number of numbers.filter((item) => item < categories.length)) {
    times.set(number, (times.get(number) ?? 0) + 1);
  }
  const named = [...times].sort(([one], [other]) => one - other);
  const lines = named.map(([item, count]) =>
    count > 1 ? `${categories[item]}, ${count} times` : categories[item],
  );
  const empty = numbers.length - [...times.values()].reduce((sum, count) => sum + count, 0);
  return empty ? [...lines, `${empty} empty ${empty > 1 ? "parts" : "part"}`] : lines;
}

function itemsPlan({ task, plan }) {
  return {
    numItems: task.question.terms.categories.length,
    setSize: task.question.terms.set_size,
    blanket: plan.blanket,
    reportSize: plan.report_size,
  };
}
