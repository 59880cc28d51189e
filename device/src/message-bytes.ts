// Contexts, messages and uploads as bytes (spec/report.md).

import { bigEndian, concat, sha256, utf8 } from "./bytes.js";
import type { Bytes } from "./bytes.js";

export const TOKEN_SIZE = 32;
/** Bytes that sealing adds to a message. */
export const SEALING_SIZE = 32 + 16;
/** Stands where a level does not stay with its message. */
export const UNLINKED = 0xffff;
/** Steps of an epoch: answers, or targets that are chosen before. */
export const Stage = Object.freeze({ answer: 0, choice: 1 });
export const MEDIA_TYPE = "application/vnd.shuffledp.reports";

const ID_SIZE = 16;
const HEADER_SIZE = 26;

/** What messages are bound to; the plan's digest is 32 zeros if there is none. */
export interface Step {
  taskDigest: Bytes;
  planDigest: Bytes;
  epoch: number;
  stage: number;
}

/**
 * Returns what sealed messages are bound to.
 *
 * @param level Its position if it stays with the message, else UNLINKED.
 */
export function messageInfo(step: Step, level: number): Bytes {
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
export function plainNumber(number: number): Bytes {
  return concat(bigEndian(1, 1), bigEndian(0, 4), bigEndian(number, 4));
}

/** Returns a message that is a set of 0, ..., count - 1: a bit for each, highest first. */
export function plainSet(members: number[], count: number): Bytes {
  const bits = new Uint8Array(Math.ceil(count / 8));
  for (const member of members) {
    if (!Number.isInteger(member) || member < 0 || member >= count) {
      throw new RangeError("Expected a set of known elements.");
    }
    bits[member >> 3]! |= 0x80 >> (member & 7);
  }
  return concat(bigEndian(1, 1), bits);
}

/** Returns an upload of one report, all of whose messages have one size. */
export function upload(step: Step, taskId: Bytes, token: Bytes, level: number, sealed: Bytes[]): Bytes {
  if (taskId.length !== ID_SIZE || token.length !== TOKEN_SIZE) {
    throw new RangeError("Expected a task id of 16 bytes and a token of 32.");
  }
  if (!sealed.length || sealed.some((message) => message.length !== sealed[0]!.length)) {
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
export function messageHashes(body: Bytes, count: number): Promise<Bytes[]> {
  const start = HEADER_SIZE + TOKEN_SIZE + 2;
  const size = (body.length - start) / count;
  if (!Number.isInteger(size)) throw new RangeError("Expected messages of one size.");
  const places = Array.from({ length: count }, (_, place) => start + place * size);
  return Promise.all(places.map((place) => sha256(body.slice(place, place + size))));
}
