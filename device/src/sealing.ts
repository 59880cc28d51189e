// Sealing messages for the analyst (HPKE, RFC 9180), so that the shuffler cannot read them.

import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";

import { concat } from "./bytes.js";
import type { Bytes } from "./bytes.js";

export const SUITE = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

/**
 * Returns messages that only the holder of the private key can open, for `info` alone.
 *
 * @param publicKey 32 bytes.
 * @param info What the messages are for.
 * @param messages Each is sealed with a key of its own.
 */
export async function seal(publicKey: Bytes, info: Bytes, messages: Bytes[]): Promise<Bytes[]> {
  const recipientPublicKey = await SUITE.kem.deserializePublicKey(publicKey);
  const sealed: Bytes[] = [];
  for (const message of messages) {
    const sender = await SUITE.createSenderContext({ recipientPublicKey, info });
    const ciphertext = await sender.seal(message);
    sealed.push(concat(new Uint8Array(sender.enc), new Uint8Array(ciphertext)));
  }
  return sealed;
}

/** Tells whether this environment can seal for a key, by doing it. */
export async function canSealFor(publicKey: Bytes): Promise<boolean> {
  try {
    await seal(publicKey, new Uint8Array(), [new Uint8Array(1)]);
    return true;
  } catch {
    return false;
  }
}
