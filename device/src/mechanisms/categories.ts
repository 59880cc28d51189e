// What mechanisms that take one of several categories have in common.

import type { OneOf } from "../mechanism.js";
import type { Terms } from "../task.js";

const MOST_CATEGORIES = 10_000;

/** Tells whether terms have these members, and no others. */
export function hasTerms(terms: Terms, ...names: (keyof Terms)[]): boolean {
  const isThere = (name: string) => Object.hasOwn(terms, name);
  return Object.keys(terms).length === names.length && names.every(isThere);
}

/** Tells whether a value is a list of texts that people can choose from. */
export function areCategories(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length >= 2 &&
    value.length <= MOST_CATEGORIES &&
    value.every((text) => typeof text === "string") &&
    new Set(value).size === value.length
  );
}

/** Returns the form of one of several texts; null where a question has none. */
export function oneOf({ categories }: Terms): OneOf | null {
  return areCategories(categories) ? { kind: "one of", options: categories } : null;
}

/** Returns how often each number below `size` occurs, and how many numbers are larger. */
export function timesOf(numbers: number[], size: number) {
  const times = new Map<number, number>();
  for (const number of numbers) times.set(number, (times.get(number) ?? 0) + 1);
  const counted = [...times].sort(([one], [other]) => one - other);
  const sent = counted.filter(([number]) => number < size);
  const empty = numbers.length - sent.reduce((all, [, count]) => all + count, 0);
  return { sent, empty };
}
