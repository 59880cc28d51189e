// JSON as parties hash and sign it (spec/encoding.md).
//
// Parties hash the same text of the same value. Two languages write the same number in
// different ways (1.0 and 1, 1e-06 and 0.000001), so that numbers which were received are
// kept as they were spelled: `parse` keeps them as Spelled, `canonical` writes them back.

/** A number with the letters it was written with. */
export class Spelled {
  readonly letters: string;

  constructor(letters: string) {
    this.letters = letters;
    Object.freeze(this);
  }

  /** Whether it is a whole number: without fraction and exponent. */
  get isWhole(): boolean {
    return /^-?\d+$/.test(this.letters);
  }
}

/** A value of JSON whose numbers are `N`. */
export type Json<N> = null | boolean | string | N | Json<N>[] | { [name: string]: Json<N> };

/** An object of JSON, with numbers as they were spelled. */
export type SpelledObject = { [name: string]: Json<Spelled> };

const MOST_LEVELS = 64;
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
// Without the flag `u`, a surrogate that has its other half would be found, too.
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Reads an object of JSON, every number as Spelled.
 *
 * @throws SyntaxError if the text is no such object: with a name twice, a number that is no
 *   finite double, a lone surrogate, or values nested more than 64 deep.
 */
export function parse(text: string): SpelledObject {
  JSON.parse(text); // Refuses what is no JSON, before numbers become marked strings.
  let names = 0;
  // Strings are marked, too: no string of the text can pass for a number.
  const marked = text.replace(TOKENS, (token, colon: string | undefined) => {
    if (colon !== undefined) names += 1;
    return token[0] === '"' ? `"s${token.slice(1)}` : `"n${token}"`;
  });

  const unmark = (value: Json<never>, level: number): Json<Spelled> => {
    if (typeof value === "string") return textOrNumber(value);
    if (value === null || typeof value !== "object") return value;
    if (level > MOST_LEVELS) throw new SyntaxError("Expected fewer levels of JSON.");
    if (Array.isArray(value)) return value.map((entry) => unmark(entry, level + 1));
    const members = Object.entries(value);
    names -= members.length;
    return Object.fromEntries(
      members.map(([name, entry]) => [textOf(name), unmark(entry, level + 1)]),
    );
  };

  const value = unmark(JSON.parse(marked) as Json<never>, 1);
  // A name that came twice was counted twice, and is a member once.
  if (!isObject(value) || names !== 0) throw new SyntaxError("Expected one object of JSON.");
  return value;
}

function textOrNumber(marked: string): string | Spelled {
  if (marked[0] === "s") return textOf(marked);
  const letters = marked.slice(1);
  if (!Number.isFinite(Number(letters))) throw new SyntaxError("Expected finite numbers.");
  return new Spelled(letters);
}

function textOf(marked: string): string {
  const text = marked.slice(1);
  if (LONE_SURROGATE.test(text)) throw new SyntaxError("Expected whole characters.");
  return text;
}

/** Tells whether a value is an object of JSON. */
export function isObject<N>(value: Json<N> | undefined): value is { [name: string]: Json<N> } {
  const isOther = value === null || Array.isArray(value) || value instanceof Spelled;
  return typeof value === "object" && !isOther;
}

/** Returns the same value with plain numbers. */
export function plain(value: Json<Spelled>): Json<number> {
  if (value instanceof Spelled) return Number(value.letters);
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([name, entry]) => [name, plain(entry)]));
}

/**
 * Returns sorted JSON without spaces; names are ASCII.
 *
 * It is the text that parties hash if numbers are as `parse` gave them. Texts of plain
 * numbers can be compared with each other alone.
 */
export function canonical(value: Json<Spelled | number>): string {
  if (value instanceof Spelled) return value.letters;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name]!)}`);
  return `{${members.join(",")}}`;
}
