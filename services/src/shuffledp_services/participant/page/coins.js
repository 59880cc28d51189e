// Randomness that is always the same for the same answer, as shuffledp_services.
// permanent_randomness draws it: a participant who is asked again sends the same message.

import { Rng } from "./randomize.js";
import { bigEndian, concat, utf8 } from "./wire.js";

// AES blocks that are made at once; the first 8 bytes of each are drawn from.
const BLOCKS = 1 << 12;
const BLOCK = 16;
const ZERO = new Uint8Array(BLOCK);

class Exhausted extends Error {}

/**
 * Returns what a stream depends on, besides the device: 32 bytes.
 *
 * @param step As in `messageInfo`.
 * @param {Uint8Array} secret Of the link.
 * @param {number} level The position of the level.
 * @param {number[]} answer A category, a number or a bit; items in ascending order;
 *   nothing where levels alone are reported.
 */
export async function coinContext(step, secret, level, answer) {
  const numbers = new DataView(new ArrayBuffer(8 * answer.length));
  answer.forEach((number, place) => numbers.setFloat64(8 * place, number));
  return hmac(
    secret,
    concat(
      utf8("shuffledp coins 1"),
      step.taskDigest,
      bigEndian(step.epoch, 4),
      bigEndian(step.stage, 1),
      step.planDigest,
      bigEndian(level, 2),
      new Uint8Array(numbers.buffer),
    ),
  );
}

/** Returns what a function returns that draws from a stream, the same each time. */
export async function withCoins(deviceSecret, context, draw) {
  for (let blocks = BLOCKS; ; blocks *= 4) {
    const words = await streamWords(deviceSecret, context, blocks);
    try {
      return draw(new Rng(reader(words)));
    } catch (error) {
      // A longer stream begins with the same words.
      if (!(error instanceof Exhausted)) throw error;
    }
  }
}

/**
 * Returns the first words of a stream, of 8 bytes each, little-endian (KeyedRandom).
 *
 * @param {Uint8Array} deviceSecret 32 bytes.
 * @param {Uint8Array} context From `coinContext`.
 * @param {number} count How many words.
 */
export async function streamWords(deviceSecret, context, count) {
  const width = bigEndian(context.length, 4);
  const info = concat(utf8("shuffledp randomness of people 1"), width);
  const { subtle } = crypto;
  const material = await subtle.importKey("raw", deviceSecret, "HKDF", false, ["deriveBits"]);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  const keys = await subtle.deriveBits(hkdf, material, 512);
  const encrypt = async (mode, key, content) => {
    const known = await subtle.importKey("raw", key, mode.name, false, ["encrypt"]);
    return new Uint8Array(await subtle.encrypt(mode, known, content));
  };
  // What follows the last block is padding.
  const chained = await encrypt({ name: "AES-CBC", iv: ZERO }, keys.slice(0, 32), context);
  const seed = chained.slice(context.length - BLOCK, context.length);
  const mode = { name: "AES-CTR", counter: seed, length: 64 };
  const stream = await encrypt(mode, keys.slice(32), new Uint8Array(BLOCK * count));
  const view = new DataView(stream.buffer);
  return Array.from({ length: count }, (_, place) => view.getBigUint64(BLOCK * place, true));
}

export async function hmac(secret, message) {
  const hash = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, hash, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
}

/** Returns what fills arrays of one or two halves of a word, the high one first. */
function reader(words) {
  let next = 0;
  return (halves) => {
    if (next === words.length) throw new Exhausted();
    const word = words[next];
    next += 1;
    return halves.map((_, place) => Number((place ? word : word >> 32n) & 0xffffffffn));
  };
}
