// Byte strings, and how they are written as text.

export type Bytes = Uint8Array<ArrayBuffer>;

const ENCODER = new TextEncoder();

export function utf8(text: string): Bytes {
  return ENCODER.encode(text);
}

export async function sha256(content: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", content));
}

export async function hmacSha256(secret: Bytes, message: Bytes): Promise<Bytes> {
  const hash = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, hash, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
}

/** Returns unpadded base64url. */
export function toText(content: Bytes): string {
  const letters = btoa(String.fromCharCode(...content));
  return letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Reads unpadded base64url of `size` bytes; null if it is anything else. */
export function fromText(text: unknown, size: number): Bytes | null {
  if (typeof text !== "string" || !/^[A-Za-z0-9_-]*$/.test(text)) return null;
  if (text.length !== Math.ceil((size * 4) / 3)) return null;
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const content = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  // One text for one value: other spellings of the last letter are refused.
  return toText(content) === text ? content : null;
}

/** Returns lower-case hexadecimal digits: how people compare digests. */
export function hex(content: Bytes): string {
  return [...content].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function concat(...parts: Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let next = 0;
  for (const part of parts) {
    whole.set(part, next);
    next += part.length;
  }
  return whole;
}

/** Returns a whole number, big-endian, in `size` bytes (at most 4). */
export function bigEndian(number: number, size: number): Bytes {
  if (!Number.isInteger(number) || number < 0 || number >= 256 ** size) {
    throw new RangeError(`Expected a whole number of ${size} bytes.`);
  }
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, number);
  return new Uint8Array(view.buffer).slice(4 - size);
}
