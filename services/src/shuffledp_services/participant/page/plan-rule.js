// What the rules of all planned mechanisms have in common: enough noise, rates below those
// of a row of the table that all parties signed, and reports that are large enough.

const MAX_REPORT_SIZE = 4096;
// Error of a Bernoulli draw's probability, and of its complement; times m + 1.
const COIN_ERROR = 7e-16;
// Probability of values that devices cannot draw at all.
const NEVER = 2e-290;

/**
 * Returns how many people surely send their noise; null if a plan or rule has another form.
 *
 * @param plan With `minimum` and `protocol`.
 * @param task Of the survey, with plain numbers.
 * @param {number} answers Of a person: a report has room for all of them.
 */
export function honestPeople({ minimum, protocol }, { absent, minimum: [smallest], plan_rule: rule }, answers) {
  const { targets, rates, report_size: size } = protocol.parameters;
  if (![rule?.noise, rule?.rates, targets, rates].every(Array.isArray)) return null;
  if (!Number.isInteger(minimum) || minimum < smallest) return null;
  if (!Number.isInteger(size) || size < answers || size > MAX_REPORT_SIZE) return null;
  return minimum - absent >= 1 ? minimum - absent : null;
}

/** Tells whether rates are for the targets on offer, and no larger than a row allows. */
export function areAllowed({ targets, rates }, choices, most) {
  return (
    Array.isArray(most) &&
    [targets, rates, most].every((list) => list.length === choices.length) &&
    choices.every((choice, place) => targets[place] === choice) &&
    rates.every((rate, place) => rate >= 0 && rate <= most[place])
  );
}

/**
 * Tells whether cuts and draws cost no more than a rule allows.
 *
 * @param rule With `cut` and `coin_error`.
 * @param {number} mean Noise messages of a person in the mean.
 * @param {number} cap How many of them a report holds.
 * @param {number} draws How many draws at most decide about them.
 * @param {number} honest People who send them.
 */
export function isPaid(rule, mean, cap, draws, honest) {
  return (
    cutProbability(mean, cap, honest) <= rule.cut &&
    honest * draws * COIN_ERROR * (mean + 1) * (1 + 1e-9) <= rule.coin_error
  );
}

/** Returns a bound of the probability that any honest report is cut by its size. */
export function cutProbability(mean, cap, honest) {
  if (cap + 2 <= mean) return 1;
  let log = (cap + 1) * Math.log(mean) - mean;
  for (let factor = 2; factor <= cap + 1; factor += 1) log -= Math.log(factor);
  log -= Math.log1p(-mean / (cap + 2));
  // More than all roundings together.
  return honest * Math.exp(log + 1e-9) + NEVER;
}
