// What numbers mean, in words.

import { language, t } from "./texts.js";

/**
 * Returns the posterior probability of a yes-or-no fact that was as likely as not before,
 * rounded up: e^epsilon / (1 + e^epsilon), such as "63%".
 */
export function sureness(epsilon) {
  const wrong = 100 / (1 + Math.exp(epsilon));
  // One digit of the error probability is enough; below 1 in 10^6 it is shown as none.
  const digits = wrong >= 1 ? 0 : Math.ceil(-Math.log10(wrong));
  if (digits > 4) return t("percent", { number: 100 });
  const least = Math.floor(wrong * 10 ** digits) / 10 ** digits;
  const exact = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return t("percent", { number: (100 - least).toLocaleString(language(), exact) });
}

/** Returns where a level is between a guess (0) and certainty (1). */
export function sureShare(epsilon) {
  return Math.tanh(epsilon / 2);
}

/** Returns a name for a level's place among all. */
export function levelName(place, count) {
  if (count === 1) return t("level-only");
  if (place === 0) return t("level-first");
  if (place === count - 1) return t("level-last");
  return count === 3 ? t("level-middle") : t("level-step", { place: place + 1, count });
}

/** Returns a number in full, as people of the page's language write it. */
export function asText(number) {
  return number.toLocaleString(language(), { maximumSignificantDigits: 17 });
}

const REFUSED = [
  "token-spent",
  "token-forged",
  "not-open",
  "wrong-epoch",
  "wrong-stage",
  "storage-full",
  "unknown-task",
];

/** Returns what a problem document (RFC 9457) means for who sent a message. */
export function refusalText(problem) {
  const reason = String(problem?.type ?? "").replace("urn:shuffledp:problem:", "");
  if (REFUSED.includes(reason)) return t(reason);
  const title = problem?.title;
  return typeof title === "string" ? t("refused-because", { title }) : t("refused");
}
