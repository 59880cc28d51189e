// What the rules of all planned mechanisms have in common (spec/plan.md): enough noise, rates
// below those of a row of the table that all parties signed, and reports that are large enough.

import type { Json } from "./json.js";
import { isFloat, isList, isWhole } from "./value-checks.js";
import type { Value } from "./value-checks.js";
import type { Plan, PlanRule, Task } from "./task.js";

const MOST_PEOPLE = 1e9;
const MAX_REPORT_SIZE = 4096;
// Error of a Bernoulli draw's probability, and of its complement; times m + 1.
const DRAW_ERROR = 7e-16;
// Probability of values that devices cannot draw at all.
const NEVER = 2e-290;

/** Parameters that all plans have. */
export interface PlanParameters {
  targets: number[];
  rates: number[];
  report_size: number;
}

/** Tells whether a value is a whole number from 0, up to all people or messages. */
export function isCount(value: Value): boolean {
  return isWhole(value, 0, MOST_PEOPLE);
}

/** Types of the parameters that all plans have. */
export const PLAN_TYPES = Object.freeze({
  targets: (value: Value) => isList(value, (entry) => isFloat(entry)),
  rates: (value: Value) => isList(value, (entry) => isFloat(entry)),
  report_size: isCount,
});

/** Returns what a task certifies of the step in which people choose targets. */
export function identityOfChoices(targets: number[]): Json<number> {
  const parameters = { targets, epsilon: null };
  return { statistic: "choices", mechanism: "no-noise", parameters, mode: "agnostic" };
}

/**
 * Returns how many people surely send their noise; null if they or a report are too small.
 *
 * @param answers Of a person: a report has room for all of them.
 */
export function honestPeople({ minimum, protocol }: Plan, task: Task, answers: number): number | null {
  const { absent, minimum: [smallest] } = task;
  const { report_size: size } = protocol.parameters as unknown as PlanParameters;
  if (!(minimum >= smallest!) || !(size >= answers && size <= MAX_REPORT_SIZE)) return null;
  return minimum - absent >= 1 ? minimum - absent : null;
}

/** Tells whether rates are for the targets on offer, and no larger than a row allows. */
export function areAllowed(
  { targets, rates }: PlanParameters,
  choices: number[],
  most: number[] | undefined,
): boolean {
  return (
    most !== undefined &&
    [targets, rates, most].every((list) => list.length === choices.length) &&
    choices.every((choice, place) => targets[place] === choice) &&
    rates.every((rate, place) => rate >= 0 && rate <= most[place]!)
  );
}

/**
 * Tells whether cuts and draws cost no more than a rule allows.
 *
 * @param noise Noise messages of a person in the mean.
 * @param cap How many of them a report holds.
 * @param draws How many draws at most decide about them.
 * @param honest People who send them.
 */
export function isPaid(
  rule: PlanRule,
  noise: number,
  cap: number,
  draws: number,
  honest: number,
): boolean {
  return (
    cutProbability(noise, cap, honest) <= rule.cut &&
    honest * draws * DRAW_ERROR * (noise + 1) * (1 + 1e-9) <= rule.coin_error
  );
}

/** Returns a bound of the probability that any honest report is cut by its size. */
export function cutProbability(noise: number, cap: number, honest: number): number {
  if (cap + 2 <= noise) return 1;
  let log = (cap + 1) * Math.log(noise) - noise;
  for (let factor = 2; factor <= cap + 1; factor += 1) log -= Math.log(factor);
  log -= Math.log1p(-noise / (cap + 2));
  // More than all roundings together.
  return honest * Math.exp(log + 1e-9) + NEVER;
}
