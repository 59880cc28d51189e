// Randomizers of one message per person (spec/mechanisms.md), as those of the library:
// with the blanket's probability a message ignores the answer.

import type { Draws } from "./rng.js";

/**
 * Returns the probability that a message ignores the answer.
 *
 * The 8e-16 on top cover the rounding of the formula, with an exponential that is good to
 * one unit in the last place: a hair more private than promised, never less.
 *
 * @param epsilon The local level, in nats.
 * @param share The share of messages that speak for one answer, in (0, 1).
 */
export function blanketProbability(epsilon: number, share: number): number {
  if (!(epsilon >= 0 && Number.isFinite(epsilon))) throw new RangeError("Expected a level.");
  const decay = Math.exp(-epsilon);
  const low = decay / (share + (1 - share) * decay);
  return Math.min(low * (1 + 8e-16), 1);
}

/** k-ary randomized response: with the blanket's probability any of `count` categories. */
export function randomizeCategory(value: number, count: number, epsilon: number, rng: Draws): number {
  checkCategory(value, count);
  return rng.bernoulli(blanketProbability(epsilon, 1 / count)) ? rng.below(count) : value;
}

/**
 * Subset selection: a set of `size` categories, uniform with the probability of the
 * blanket, and otherwise uniform among those with the person's category.
 *
 * @returns Categories in ascending order, which tells nothing of how they were drawn.
 */
export function randomizeSubset(
  value: number,
  count: number,
  size: number,
  epsilon: number,
  rng: Draws,
): number[] {
  checkCategory(value, count);
  if (!Number.isInteger(size) || size < 1 || size >= count) {
    throw new RangeError("Expected a size of subsets below that of all.");
  }
  if (rng.bernoulli(blanketProbability(epsilon, size / count))) return uniformSet(size, count, rng);
  // The others are numbered without a gap where the value is.
  const others = uniformSet(size - 1, count - 1, rng);
  return ascending([value, ...others.map((other) => other + (other >= value ? 1 : 0))]);
}

/** Hadamard response: a column, uniform with the blanket's probability, else one's own. */
export function randomizeColumn(value: number, count: number, epsilon: number, rng: Draws): number {
  checkCategory(value, count);
  const column = rng.below(numColumns(count));
  const ignores = rng.bernoulli(blanketProbability(epsilon, 0.5));
  if (ignores || speaksFor(column, value)) return column;
  const row = value + 1;
  // Turning the bit where the row has its lowest one changes the side.
  return column ^ (row & -row);
}

/** Returns the number of columns: the smallest power of 2 above that of categories. */
export function numColumns(count: number): number {
  return 2 ** (32 - Math.clz32(count));
}

/** Tells whether a column has an even number of ones in common with a category's row. */
export function speaksFor(column: number, category: number): boolean {
  let common = column & (category + 1);
  for (const shift of [16, 8, 4, 2, 1]) common ^= common >>> shift;
  return (common & 1) === 0;
}

/** One bit about a number: 1 the more often, the closer it is to the high end. */
export function randomizeNumber(
  value: number,
  low: number,
  high: number,
  epsilon: number,
  rng: Draws,
): number {
  const share = shareOf(value, low, high);
  const ignores = rng.bernoulli(blanketProbability(epsilon, 0.5));
  return rng.bernoulli(ignores ? 0.5 : share) ? 1 : 0;
}

/**
 * k-ary response about one of `count` equally spaced numbers, to which the value is moved.
 *
 * It is moved to one of the two next to it, at random and without bias. This happens to the
 * value, not to the message: what holds for the numbers of the grid holds for all values.
 */
export function randomizeOnGrid(
  value: number,
  low: number,
  high: number,
  count: number,
  epsilon: number,
  rng: Draws,
): number {
  const point = roundAtRandom(value, low, high, count - 1, rng);
  return randomizeCategory(point, count, epsilon, rng);
}

/** Rounds a value at random, without bias, to a whole number of `steps` in the range. */
export function roundAtRandom(
  value: number,
  low: number,
  high: number,
  steps: number,
  rng: Draws,
): number {
  const position = shareOf(value, low, high) * steps;
  const below = Math.floor(position);
  return rng.bernoulli(position - below) ? below + 1 : below;
}

/** Returns the number that a message of `randomizeOnGrid` stands for. */
export function gridNumber(point: number, low: number, high: number, count: number): number {
  return low + point * (((high / 2 - low / 2) / (count - 1)) * 2);
}

/** Returns where a value lies between the ends of the range, from 0 to 1. */
function shareOf(value: number, low: number, high: number): number {
  if (!(value >= low && value <= high && low < high)) {
    throw new RangeError("Expected a number in the range.");
  }
  // Halves, as the length of the range may exceed the largest number.
  const share = (value / 2 - low / 2) / (high / 2 - low / 2);
  return Math.min(Math.max(share, 0), 1);
}

/** Draws a uniform set of `size` of the numbers 0, ..., count - 1 (Floyd's algorithm). */
function uniformSet(size: number, count: number, rng: Draws): number[] {
  const members = new Set<number>();
  for (let last = count - size; last < count; last += 1) {
    const drawn = rng.below(last + 1);
    members.add(members.has(drawn) ? last : drawn);
  }
  return ascending([...members]);
}

function ascending(numbers: number[]): number[] {
  return numbers.sort((one, other) => one - other);
}

/** Throws RangeError unless a value is one of 0, ..., count - 1. */
export function checkCategory(value: number, count: number): void {
  if (!Number.isInteger(value) || value < 0 || value >= count) {
    throw new RangeError("Expected one of the answers.");
  }
}
