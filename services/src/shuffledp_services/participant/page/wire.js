// The bytes of the wire, as shuffledp_services.wire writes them in Python.
//
// Parties hash the same text of the same value. Two languages write the same number in
// different ways (1.0 and 1, 1e-06 and 0.000001), so that numbers which were received are
// kept as they were spelled: `parse` keeps them as Spelled, `canonical` writes them back.

export const TOKEN_SIZE = 32;
export const SEALING_SIZE = 32 + 16;
export const UNLINKED = 0xffff;
export const Stage = Object.freeze({ answer: 0, choice: 1 });
export const MEDIA_TYPE = "application/vnd.shuffledp.reports";

const ID_SIZE = 16;
const HEADER_SIZE = 26;
const ENCODER = new TextEncoder();

/** A number with the letters it was written with. */
export class Spelled {
  constructor(letters) {
    this.letters = letters;
    Object.freeze(this);
  }
}

/** Reads JSON, every number as Spelled. */
export function parse(text) {
  JSON.parse(text); // Refuses what is no JSON, before numbers become marked strings.
  const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  // Strings are marked, too: no string of the text can pass for a number.
  const marked = text.replace(tokens, (token) =>
    token[0] === '"' ? `"s${token.slice(1)}` : `"n${token}"`,
  );
  return unmark(JSON.parse(marked));
}

function unmark(value) {
  if (typeof value === "string") {
    const rest = value.slice(1);
    return value[0] === "s" ? rest : new Spelled(rest);
  }
  if (Array.isArray(value)) return value.map(unmark);
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([name, of]) => [name.slice(1), unmark(of)]));
}

/** Returns the same value with plain numbers. */
export function plain(value) {
  if (value instanceof Spelled) return Number(value.letters);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([name, of]) => [name, plain(of)]));
}

/** Returns sorted JSON without spaces, of what `parse` gave; names are ASCII. */
export function canonical(value) {
  if (value instanceof Spelled) return value.letters;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const names = Object.keys(value).sort();
  const members = names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(",")}}`;
}

export function utf8(text) {
  return ENCODER.encode(text);
}

export async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** Returns unpadded base64url. */
export function toText(bytes) {
  const letters = btoa(String.fromCharCode(...bytes));
  return letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Returns hexadecimal digits: how people compare digests. */
export function hex(bytes) {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Reads unpadded base64url of `size` bytes; null if it is anything else. */
export function fromText(text, size) {
  if (typeof text !== "string" || !/^[A-Za-z0-9_-]*$/.test(text)) return null;
  if (text.length !== Math.ceil((size * 4) / 3)) return null;
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  // One text for one value: other spellings of the last letter are refused.
  return toText(bytes) === text ? bytes : null;
}

export function concat(...parts) {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}

export function sameBytes(one, other) {
  return one.length === other.length && one.every((byte, place) => byte === other[place]);
}

/** Returns a whole number, big-endian, in `size` bytes (at most 4). */
export function bigEndian(number, size) {
  if (!Number.isInteger(number) || number < 0 || number >= 256 ** size) {
    throw new RangeError(`Expected a whole number of ${size} bytes.`);
  }
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, number);
  return new Uint8Array(view.buffer).slice(4 - size);
}

/**
 * Returns what sealed messages are bound to.
 *
 * @param {{taskDigest: Uint8Array, epoch: number, stage: number, planDigest: Uint8Array}}
 *   step The step they are sent in; the plan's digest is 32 zeros if there is none.
 * @param {number} level Its position if it stays with the message, else UNLINKED.
 */
export function messageInfo(step, level) {
  return concat(
    utf8("shuffledp message 1"),
    step.taskDigest,
    bigEndian(step.epoch, 4),
    bigEndian(step.stage, 1),
    bigEndian(level, 2),
    step.planDigest,
  );
}

/** Returns a message as it is before it is sealed: a kind (1: real), and a number. */
export function plainMessage(number) {
  return concat(bigEndian(1, 1), bigEndian(0, 4), bigEndian(number, 4));
}

/** Returns a message that is a set of 0, ..., count - 1: a bit for each, highest first. */
export function plainSet(members, count) {
  const bits = new Uint8Array(Math.ceil(count / 8));
  for (const member of members) {
    if (!Number.isInteger(member) || member < 0 || member >= count) {
      throw new RangeError("Expected a set of known elements.");
    }
    bits[member >> 3] |= 0x80 >> (member & 7);
  }
  return concat(bigEndian(1, 1), bits);
}

/** Returns an upload of one report. */
export function upload(step, taskId, token, level, sealed) {
  if (taskId.length !== ID_SIZE || token.length !== TOKEN_SIZE) {
    throw new RangeError("Expected a task id of 16 bytes and a token of 32.");
  }
  if (!sealed.length || sealed.some((message) => message.length !== sealed[0].length)) {
    throw new RangeError("Expected messages of one size.");
  }
  const header = concat(
    utf8("SDPR"),
    bigEndian(1, 1),
    bigEndian(step.stage, 1),
    bigEndian(step.epoch, 4),
    taskId,
  );
  if (header.length !== HEADER_SIZE) throw new RangeError("Expected a header's size.");
  return concat(header, token, bigEndian(level, 2), ...sealed);
}

/** Returns the SHA-256 of each sealed message of an upload of one report. */
export function hashesIn(body, count) {
  const start = HEADER_SIZE + TOKEN_SIZE + 2;
  const size = (body.length - start) / count;
  if (!Number.isInteger(size)) throw new RangeError("Expected messages of one size.");
  const places = Array.from({ length: count }, (_, place) => start + place * size);
  return Promise.all(places.map((place) => sha256(body.slice(place, place + size))));
}
