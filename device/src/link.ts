// The link that a participant gets for one epoch of one survey (spec/participation.md).

import { fromText } from "./bytes.js";
import type { Bytes } from "./bytes.js";
import { TOKEN_SIZE } from "./message-bytes.js";

const LINK =
  /^(?:.*#)?token=([\w-]+)&secret=([\w-]+)&epoch=([1-9]\d{0,9})&task=([0-9a-f]{64})$/;

export interface Link {
  /** Admits one report in each step of the epoch: sent to the shuffler alone. */
  token: Bytes;
  /** Never sent: messages depend on it. */
  secret: Bytes;
  epoch: number;
  /** Fingerprint of the task. */
  task: string;
}

/** Reads a link, or what stands behind its #; null if it is no such link. */
export function readLink(text: string): Link | null {
  const [, letters, more, digits, task] = LINK.exec(text.trim()) ?? [];
  const token = fromText(letters, TOKEN_SIZE);
  const secret = fromText(more, TOKEN_SIZE);
  const epoch = Number(digits);
  return token && secret && task && epoch < 2 ** 32 ? { token, secret, epoch, task } : null;
}
