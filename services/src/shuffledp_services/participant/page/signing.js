// Ed25519 signatures over canonical JSON, as shuffledp_services.wire.signing writes them.

import * as wire from "./wire.js";

/** Tells whether this browser can check signatures, by trying. */
export async function canVerify() {
  // The public key of RFC 8032, section 7.1, test 1.
  const key = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
  return (await imported(wire.fromText(key, 32))) !== null;
}

/**
 * Tells whether the holder of a key signed a document for a purpose.
 *
 * @param raw What `wire.parse` gave.
 * @param {Uint8Array | null} key 32 bytes.
 * @returns {Promise<boolean | null>} null if this browser has no Ed25519.
 */
export async function isSigned(purpose, raw, key) {
  const { signature, ...rest } = raw;
  const signed = wire.fromText(signature, 64);
  if (!signed || !key) return false;
  const known = await imported(key);
  if (known === null) return null;
  const said = wire.utf8(`shuffledp ${purpose} 1\0${wire.canonical(rest)}`);
  return crypto.subtle.verify("Ed25519", known, signed, said);
}

async function imported(key) {
  try {
    return await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
  } catch {
    return null;
  }
}
