// Randomizers of several messages per person (spec/mechanisms.md): answers are sent with the
// target's rate, among Poisson numbers of uniform noise messages.

import type { Draws } from "./rng.js";
import { checkCategory } from "./single-message.js";

/** Options of a question, how many may be picked, and the noise of one person. */
export interface NoiseGroup {
  buckets: number;
  most: number;
  /** Noise messages of a person in the mean. */
  noise: number;
}

/** What the randomizer of items is run with. */
export interface ItemNumbers {
  numItems: number;
  setSize: number;
  /** Noise messages of a person in the mean. */
  blanket: number;
  reportSize: number;
}

/**
 * Sets of items: each is sent with a rate, among a Poisson number of uniform ones.
 *
 * @param held Different items; fewer than `setSize` are as good as any.
 * @param rate The probability to send an item.
 * @returns `reportSize` numbers; `numItems` stands for nothing.
 */
export function randomizeItems(
  held: number[],
  numbers: ItemNumbers,
  rate: number,
  rng: Draws,
): number[] {
  const { numItems: buckets, setSize: most, blanket: noise, reportSize } = numbers;
  const groups = [{ buckets, most, noise }];
  return randomizeAnswers(held, groups, reportSize, rate, rng).map((number) => number / 2);
}

/**
 * Answers to several questions: each is sent with a rate, among Poisson numbers of uniform
 * ones.
 *
 * @param picked Different options, counted over all groups.
 * @param reportSize Messages of a report.
 * @param rate The probability to send an answer.
 * @returns `reportSize` numbers: 2 b adds to option b, and 2 d stands for nothing.
 */
export function randomizeAnswers(
  picked: number[],
  groups: NoiseGroup[],
  reportSize: number,
  rate: number,
  rng: Draws,
): number[] {
  const total = groups.reduce((buckets, group) => buckets + group.buckets, 0);
  picked.forEach((option) => checkCategory(option, total));
  if (new Set(picked).size !== picked.length) throw new RangeError("Expected different answers.");
  const cap = reportSize - groups.reduce((answers, { most }) => answers + most, 0);
  if (!(cap >= 0)) throw new RangeError("Expected room for all answers.");
  let next = 0;
  const parts = groups.map((group) => {
    const first = next;
    next += group.buckets;
    const own = picked.filter((option) => option >= first && option < next);
    if (own.length > group.most) throw new RangeError(`Expected at most ${group.most} answers.`);
    return { group, first, own };
  });
  const sent: number[] = [];
  const blanket: number[] = [];
  for (const { group, first, own } of parts) {
    const { buckets, most, noise } = group;
    for (let place = 0; place < most; place += 1) {
      const isSent = rng.bernoulli(rate);
      sent.push(isSent && place < own.length ? 2 * own[place]! : 2 * total);
    }
    const { stop, go } = stopAndGo(noise, cap);
    for (let j = 0; blanket.length < cap && goesOn(stop[j]!, go[j]!, rng); j += 1) {
      blanket.push(2 * (first + rng.below(buckets)));
    }
  }
  const empty = new Array<number>(cap - blanket.length).fill(2 * total);
  return [...sent, ...blanket, ...empty];
}

/** Returns P(N = j | N >= j) and P(N > j | N >= j) of a Poisson number, for j < cap. */
export function stopAndGo(noise: number, cap: number): { stop: Float64Array; go: Float64Array } {
  if (!(noise >= 0 && noise <= 1e5)) throw new RangeError("Expected 0 to 100000 messages.");
  // What is that far beyond both cap and mean is below 1e-20 of what is before.
  const spread = 80 + 20 * Math.ceil(Math.sqrt(noise));
  const last = Math.max(cap, Math.ceil(noise)) + spread;
  const stop = new Float64Array(cap);
  const go = new Float64Array(cap);
  // tail is P(N >= j) / P(N = j), a sum of positive terms: nothing cancels.
  let tail = 1;
  for (let j = last - 1; j >= 0; j -= 1) {
    const ratio = noise / (j + 1);
    const odds = 1 + ratio * tail;
    if (j < cap) {
      stop[j] = 1 / odds;
      go[j] = Number.isFinite(odds) ? ratio * (tail / odds) : 1;
    }
    tail = odds;
  }
  return { stop, go };
}

function goesOn(stop: number, go: number, rng: Draws): boolean {
  // A draw of the rarer side keeps its digits.
  return go <= 0.5 ? rng.bernoulli(go) : !rng.bernoulli(stop);
}
