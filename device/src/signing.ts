// Ed25519 signatures over canonical JSON (spec/encoding.md).

import { fromText, utf8 } from "./bytes.js";
import type { Bytes } from "./bytes.js";
import { canonical } from "./json.js";
import type { SpelledObject } from "./json.js";

/** Tells whether this environment can verify signatures, by trying. */
export async function canVerify(): Promise<boolean> {
  // The public key of RFC 8032, section 7.1, test 1.
  const key = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
  return (await imported(fromText(key, 32)!)) !== null;
}

/**
 * Tells whether the holder of a key signed a document for a purpose.
 *
 * @param document As `parse` gave it.
 * @param key 32 bytes; null if it could not be read.
 * @returns null if this environment has no Ed25519.
 */
export async function isSigned(
  purpose: string,
  document: SpelledObject,
  key: Bytes | null,
): Promise<boolean | null> {
  const { signature, ...content } = document;
  const signed = fromText(signature, 64);
  if (!signed || !key) return false;
  const verifier = await imported(key);
  if (verifier === null) return null;
  const text = utf8(`shuffledp ${purpose} 1\0${canonical(content)}`);
  return crypto.subtle.verify("Ed25519", verifier, signed, text);
}

async function imported(key: Bytes): Promise<CryptoKey | null> {
  try {
    return await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
  } catch {
    return null;
  }
}
