// Types and ranges of values of JSON, whose numbers are as they were spelled.

import { Spelled, isObject } from "./json.js";
import type { Json, SpelledObject } from "./json.js";

export type Value = Json<Spelled> | undefined;

/** Tells whether an object has these members, and no others. */
export function hasMembers(value: Value, ...names: string[]): value is SpelledObject {
  if (!isObject(value) || Object.keys(value).length !== names.length) return false;
  return names.every((name) => Object.hasOwn(value, name));
}

/** Tells whether a value is a whole number of a range, and written as one. */
export function isWhole(value: Value, low: number, high: number): value is Spelled {
  return value instanceof Spelled && value.isWhole && isWithin(value, low, high);
}

/** Tells whether a value is a float of a range, and written as one. */
export function isFloat(
  value: Value,
  low = -Number.MAX_VALUE,
  high = Number.MAX_VALUE,
): value is Spelled {
  return value instanceof Spelled && !value.isWhole && isWithin(value, low, high);
}

function isWithin({ letters }: Spelled, low: number, high: number): boolean {
  return Number(letters) >= low && Number(letters) <= high;
}

/** Tells whether a value is a list that is not empty, with such entries alone. */
export function isList(
  value: Value,
  isEntry: (entry: Json<Spelled>) => boolean,
): value is Json<Spelled>[] {
  return Array.isArray(value) && value.length > 0 && value.every(isEntry);
}

/** Tells whether a value is a list of floats above 0, each larger than the one before. */
export function isRising(value: Value, high = Number.MAX_VALUE): value is Spelled[] {
  if (!isList(value, (entry) => isFloat(entry, Number.MIN_VALUE, high))) return false;
  const numbers = value.map((entry) => Number((entry as Spelled).letters));
  return numbers.every((number, place) => !place || number > numbers[place - 1]!);
}
