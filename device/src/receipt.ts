// The shuffler's signed receipt of a report, and what is worth keeping of it (spec/report.md).

import { concat, fromText, hex, sha256, toText } from "./bytes.js";
import type { Bytes } from "./bytes.js";
import { DeviceError } from "./device-error.js";
import { canonical, parse } from "./json.js";
import type { SpelledObject } from "./json.js";
import { messageHashes } from "./message-bytes.js";
import { isSigned } from "./signing.js";
import type { Survey } from "./survey.js";
import { hasMembers, isWhole } from "./value-checks.js";

const MEMBERS = ["task", "epoch", "stage", "messages", "accepted", "refused", "signature"];

/** A receipt of one report. */
export interface Receipt {
  /** Whether its signature was verified: an environment may have no Ed25519. */
  isVerified: boolean;
  /** JSON to keep, which proves later that the report was accepted. */
  text: string;
}

/**
 * Checks a receipt of one report.
 *
 * @param text As the shuffler answered.
 * @param body The upload.
 * @param count Messages of the report.
 * @throws DeviceError unless the shuffler signed it for this upload.
 */
export async function readReceipt(
  text: string,
  survey: Survey,
  body: Bytes,
  count: number,
): Promise<Receipt> {
  const receipt = parsed(text);
  const { task, messages, epoch, stage, accepted, refused, plan } = receipt;
  const hashes = await messageHashes(body, count);
  const fits =
    hasMembers(receipt, ...MEMBERS, ...(plan === undefined ? [] : ["plan"])) &&
    task === toText(survey.step.taskDigest) &&
    messages === toText(await sha256(concat(...hashes))) &&
    isWhole(epoch, survey.step.epoch, survey.step.epoch) &&
    isWhole(stage, survey.step.stage, survey.step.stage) &&
    plan === (survey.plan ? hex(survey.step.planDigest) : undefined) &&
    isWhole(accepted, 1, 1) &&
    Array.isArray(refused) &&
    refused.length === 0;
  const key = fromText(survey.task.shuffler_signing_key, 32);
  const signed = await isSigned("receipt", receipt, key);
  if (!fits || signed === false) throw new DeviceError("wrong-receipt");
  const kept = { task: survey.fingerprint, messages: hashes.map(toText), receipt };
  return { isVerified: signed === true, text: `${canonical(kept)}\n` };
}

function parsed(text: string): SpelledObject {
  try {
    return parse(text);
  } catch {
    throw new DeviceError("wrong-receipt");
  }
}
