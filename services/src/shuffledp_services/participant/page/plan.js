// Verifies the plan of answers, as shuffledp_services.wire.signed_plan does: signed by the
// analyst, for this epoch of this task, and within the noise table that all parties signed.
// The Python parties prove that the table itself keeps every target.

import { mechanismOf } from "./mechanisms/catalog.js";
import { isSigned } from "./signing.js";
import * as wire from "./wire.js";

const MEMBERS = ["counts", "epoch", "minimum", "protocol", "signature", "task"];

/**
 * Tells why a plan is not followed.
 *
 * @param raw The signed plan, as `wire.parse` gave it.
 * @param task Of the survey, with plain numbers.
 * @param {Uint8Array} taskDigest Its SHA-256.
 * @param {number} epoch In which answers are to follow the plan.
 * @returns {Promise<string | null>} The name of a text; null if it is followed.
 */
export async function refusalOf(raw, task, taskDigest, epoch) {
  const key = wire.fromText(task.analyst_signing_key, 32);
  const signed = await isSigned("plan", raw, key);
  if (signed === null) return "no-signatures";
  const plan = wire.plain(raw);
  const members = Object.keys(plan).sort().join();
  const own = plan.task === wire.toText(taskDigest) && plan.epoch === epoch;
  if (!signed || !own || members !== MEMBERS.join()) return "foreign-plan";
  return mechanismOf(task).keepsRule(plan, task) ? null : "unsafe-plan";
}
