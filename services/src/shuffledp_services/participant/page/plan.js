// Verifies the plan of answers, as shuffledp_services.wire.signed_plan does: signed by the
// analyst, for this epoch of this task, and within the noise table that all parties signed.
// The Python parties prove that the table itself keeps every target.

import { isSigned } from "./signing.js";
import * as wire from "./wire.js";

const MAX_REPORT_SIZE = 4096;
const MEMBERS = ["counts", "epoch", "minimum", "protocol", "signature", "task"];
// Error of a Bernoulli draw's probability, and of its complement; times m + 1.
const COIN_ERROR = 7e-16;
// Probability of values that devices cannot draw at all.
const NEVER = 2e-290;

/**
 * Tells why a plan is not followed.
 *
 * @param raw The signed plan, as `wire.parse` gave it.
 * @param task Of the survey, with plain numbers.
 * @param {Uint8Array} taskDigest Its SHA-256.
 * @param {number} epoch In which answers are to follow the plan.
 * @returns {Promise<string | null>} The name of a text; null if it is followed.
 */
export async function refusalOf(raw, task, taskDigest, epoch) {
  const key = wire.fromText(task.analyst_signing_key, 32);
  const signed = await isSigned("plan", raw, key);
  if (signed === null) return "no-signatures";
  const plan = wire.plain(raw);
  const members = Object.keys(plan).sort().join();
  const own = plan.task === wire.toText(taskDigest) && plan.epoch === epoch;
  if (!signed || !own || members !== MEMBERS.join()) return "foreign-plan";
  return keepsRule(plan, task) ? null : "unsafe-plan";
}

/** Tells whether a plan keeps the rule of its task: see statistics/items/items_plan_rule.py. */
export function keepsRule({ minimum, protocol }, task) {
  const { choices, absent, plan_rule: rule } = task;
  const { set_size: setSize } = task.question.terms;
  const { targets, rates, blanket, report_size: size } = protocol.parameters;
  if (![rule?.noise, rule?.rates, targets, rates].every(Array.isArray)) return false;
  if (!Number.isInteger(minimum) || minimum < task.minimum[0]) return false;
  if (!Number.isInteger(size) || size < setSize || size > MAX_REPORT_SIZE) return false;
  if (!(blanket > 0 && blanket <= 1e5)) return false;
  const honest = minimum - absent;
  if (!(honest >= 1)) return false;
  const row = rule.noise.findLastIndex((noise) => noise <= honest * blanket);
  const most = rule.rates[row];
  if (!Array.isArray(most)) return false;
  const lists = [targets, rates, most];
  return (
    lists.every((list) => list.length === choices.length) &&
    choices.every((choice, place) => targets[place] === choice) &&
    rates.every((rate, place) => rate >= 0 && rate <= most[place]) &&
    cutProbability(blanket, size - setSize, honest) <= rule.cut &&
    honest * (size - setSize) * COIN_ERROR * (blanket + 1) * (1 + 1e-9) <= rule.coin_error
  );
}

/** Returns a bound of the probability that any honest report is cut by its size. */
export function cutProbability(blanket, cap, honest) {
  if (cap + 2 <= blanket) return 1;
  let log = (cap + 1) * Math.log(blanket) - blanket;
  for (let factor = 2; factor <= cap + 1; factor += 1) log -= Math.log(factor);
  log -= Math.log1p(-blanket / (cap + 2));
  // More than all roundings together.
  return honest * Math.exp(log + 1e-9) + NEVER;
}
