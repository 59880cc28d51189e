// From an answer to the sealed message that leaves, and to words that say what it holds.

import { randomizeCategory, randomizeItems, randomizeNumber } from "./randomize.js";
import { seal } from "./seal.js";
import * as wire from "./wire.js";
import { asText, sureness } from "./words.js";

/**
 * Draws the message of an answer: what the analyst will see, as numbers.
 *
 * @param survey From `read`.
 * @param {number} level The position of the level.
 * @param answer A category's position, a number, 0 or 1, or positions of items.
 * @param rng The only source of randomness.
 * @returns {number[]}
 */
export function draw(survey, level, answer, rng) {
  const { question, levels } = survey.task;
  const epsilon = levels[level];
  // Levels of items are reported as they are, sealed and without a name.
  if (survey.step.stage === wire.Stage.levels) return [level];
  switch (question.statistic) {
    case "frequency":
      return [randomizeCategory(answer, question.categories.length, epsilon, rng)];
    case "mean":
      return [randomizeNumber(answer, question.low, question.high, epsilon, rng)];
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
  const named = question.statistic !== "items";
  const info = wire.messageInfo(survey.step, linked ? level : wire.UNLINKED);
  const sealed = await seal(survey.analystKey, info, numbers.map(wire.plainMessage));
  const place = named ? level : wire.UNLINKED;
  return wire.upload(survey.step, survey.taskId, token, place, sealed);
}

/** Returns the lines that say what a drawn message holds. */
export function describe(survey, numbers) {
  const { question, levels } = survey.task;
  if (survey.step.stage === wire.Stage.levels) {
    return [`At most ${sureness(levels[numbers[0]])} sure`];
  }
  switch (question.statistic) {
    case "frequency":
      return [question.categories[numbers[0]]];
    case "mean":
      return numbers[0]
        ? [`${asText(question.high)}, the high end`]
        : [`${asText(question.low)}, the low end`];
    case "sum":
      return [numbers[0] ? "Yes" : "No"];
    default:
      return describeItems(question.categories, numbers);
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
    numItems: task.question.categories.length,
    setSize: task.question.set_size,
    blanket: plan.blanket,
    reportSize: plan.report_size,
  };
}
