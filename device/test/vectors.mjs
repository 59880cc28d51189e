// The specification's vectors, and what several tests share.

import assert from "node:assert/strict";
import { createCipheriv, createPrivateKey, sign } from "node:crypto";
import { readFile } from "node:fs/promises";

import { canonical, parse, Spelled } from "../dist/json.js";
import { toText, utf8 } from "../dist/bytes.js";
import { Rng } from "../dist/rng.js";

async function stored(name) {
  return readFile(new URL(`../../spec/vectors/${name}.json`, import.meta.url), "utf8");
}

const FILES = ["messages", "coins", "encodings", "noise", "wire", "refusals", "skipped", "x_wing", "targets"];
const TEXTS = await Promise.all(FILES.map(stored));

export const [MESSAGES, STREAMS, ENCODINGS, NOISE, WIRE, REFUSALS, SKIPPED, X_WING, TARGETS] = TEXTS.map(
  (text) => JSON.parse(text),
);
/** The text, whose numbers are as they were spelled. */
export const WIRE_TEXT = TEXTS[4];

export const bytes = (text) => Uint8Array.from(Buffer.from(text, "hex"));
export const base64 = (text) => Uint8Array.from(Buffer.from(text, "base64url"));
export const hex = (array) => Buffer.from(array).toString("hex");
export const spelled = (number) => new Spelled(String(number));

export function caseNamed(name) {
  return MESSAGES.cases.find((entry) => entry.name === name);
}

/** Returns a case's status with its task changed, as JSON. */
export function servedWith(name, change) {
  const served = JSON.parse(caseNamed(name).served);
  change(served.task);
  return JSON.stringify(served);
}

/** Returns a document signed with the private key of 32 bytes. */
export function signed(purpose, document, key) {
  const seed = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), key]);
  const secret = createPrivateKey({ key: seed, format: "der", type: "pkcs8" });
  const text = utf8(`shuffledp ${purpose} 1\0${canonical(document)}`);
  return { ...document, signature: toText(sign(null, text, secret)) };
}

/** Returns a case's status with its plan changed by `change`, and signed with a key. */
export function plannedWith(change, name = "items, answers", signer = "analyst_signing_key") {
  const status = parse(caseNamed(name).served);
  const { signature, ...plan } = status.plan;
  change(plan, plan.protocol.parameters);
  const key = bytes(MESSAGES.items_signing_keys[signer]);
  return canonical({ ...status, plan: signed("plan", plan, key) });
}

/** A source that gives these words, and then refuses. */
export function scripted(...words) {
  return new Rng((array) =>
    array.map(() => {
      assert.ok(words.length, "No more words were expected to be drawn.");
      return words.shift();
    }),
  );
}

/** Words of AES-256 in counter mode, the same for the same seed. */
export function seeded(seed) {
  const key = Buffer.alloc(32);
  key.writeUInt32LE(seed);
  const cipher = createCipheriv("aes-256-ctr", key, Buffer.alloc(16));
  const zeros = Buffer.alloc(1 << 16);
  let stock = Buffer.alloc(0);
  let next = 0;
  return new Rng((words) => {
    if (next + 4 * words.length > stock.length) {
      stock = cipher.update(zeros);
      next = 0;
    }
    for (let place = 0; place < words.length; place += 1) {
      words[place] = stock.readUInt32LE(next);
      next += 4;
    }
    return words;
  });
}

/** What keeps texts, as `localStorage` does, and the texts themselves. */
export function memory() {
  const texts = new Map();
  const storage = {
    getItem: (name) => texts.get(name) ?? null,
    setItem: (name, text) => texts.set(name, String(text)),
  };
  return { texts, storage: () => storage };
}

/** What `assert.rejects` takes for a DeviceError. */
export const refused = (code) => ({ name: "DeviceError", code });
