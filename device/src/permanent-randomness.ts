// Randomness that is always the same for the same answer (spec/mechanisms.md), as
// shuffledp_services.device.permanent_randomness draws it: a participant who is asked again
// sends the same message.

import { bigEndian, concat, hmacSha256, utf8 } from "./bytes.js";
import type { Bytes } from "./bytes.js";
import type { Step } from "./message-bytes.js";
import { Rng } from "./rng.js";
import type { WordSource } from "./rng.js";

// AES blocks that are made at once; the first 8 bytes of each are drawn from.
const BLOCKS = 1 << 12;
const BLOCK = 16;
const SKIPPED = 0x7ff8000000000000n;
const ZERO = new Uint8Array(BLOCK);

class ExhaustedStream extends Error {}

/**
 * Returns what a stream depends on, besides the device: 32 bytes.
 *
 * @param secret Of the link.
 * @param level The position of the level.
 * @param answer A category, a number or a bit; items in ascending order; nothing where
 *   levels alone are reported. NaN for a number that was skipped.
 */
export async function streamContext(
  step: Step,
  secret: Bytes,
  level: number,
  answer: number[],
): Promise<Bytes> {
  const numbers = new DataView(new ArrayBuffer(8 * answer.length));
  answer.forEach((number, place) => {
    numbers.setFloat64(8 * place, number);
    // NaN, a number that was skipped, has many spellings; the wire has one of them.
    if (Number.isNaN(number)) numbers.setBigUint64(8 * place, SKIPPED);
  });
  return hmacSha256(
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
export async function withStream<T>(
  deviceSecret: Bytes,
  context: Bytes,
  draw: (rng: Rng) => T,
): Promise<T> {
  for (let blocks = BLOCKS; ; blocks *= 4) {
    const words = await streamWords(deviceSecret, context, blocks);
    try {
      return draw(new Rng(sourceOf(words)));
    } catch (error) {
      // A longer stream begins with the same words.
      if (!(error instanceof ExhaustedStream)) throw error;
    }
  }
}

/**
 * Returns the first words of a stream, of 8 bytes each (shuffledp.KeyedRandom).
 *
 * @param deviceSecret 32 bytes.
 * @param context From `streamContext`.
 * @param count How many words.
 */
export async function streamWords(
  deviceSecret: Bytes,
  context: Bytes,
  count: number,
): Promise<bigint[]> {
  const width = bigEndian(context.length, 4);
  const info = concat(utf8("shuffledp randomness of people 1"), width);
  const { subtle } = crypto;
  const material = await subtle.importKey("raw", deviceSecret, "HKDF", false, ["deriveBits"]);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  const keys = await subtle.deriveBits(hkdf, material, 512);
  const encrypt = async (mode: AesCbcParams | AesCtrParams, key: ArrayBuffer, content: Bytes) => {
    const imported = await subtle.importKey("raw", key, mode.name, false, ["encrypt"]);
    return new Uint8Array(await subtle.encrypt(mode, imported, content));
  };
  // What follows the last block is padding.
  const chained = await encrypt({ name: "AES-CBC", iv: ZERO }, keys.slice(0, 32), context);
  const seed = chained.slice(context.length - BLOCK, context.length);
  const mode = { name: "AES-CTR", counter: seed, length: 64 };
  const stream = await encrypt(mode, keys.slice(32), new Uint8Array(BLOCK * count));
  const view = new DataView(stream.buffer);
  return Array.from({ length: count }, (_, place) => view.getBigUint64(BLOCK * place, true));
}

/** Returns what fills arrays of one or two halves of a word, the high one first. */
function sourceOf(words: bigint[]): WordSource {
  let next = 0;
  return (halves) => {
    const word = words[next];
    if (word === undefined) throw new ExhaustedStream();
    next += 1;
    return halves.map((_, place) => Number((place ? word : word >> 32n) & 0xffffffffn));
  };
}
