// What numbers mean, in words.

/**
 * Returns how sure somebody can be of a yes-or-no fact that was as likely as not before,
 * rounded up: e^epsilon / (1 + e^epsilon), such as "63%".
 */
export function sureness(epsilon) {
  const wrong = 100 / (1 + Math.exp(epsilon));
  // One digit of the chance to be wrong is enough; what is below 1 in 10^6 protects nobody.
  const digits = wrong >= 1 ? 0 : Math.ceil(-Math.log10(wrong));
  if (digits > 4) return "100%";
  const least = Math.floor(wrong * 10 ** digits) / 10 ** digits;
  return `${(100 - least).toFixed(digits)}%`;
}

/** Returns where a level is between a guess (0) and certainty (1). */
export function sureShare(epsilon) {
  return Math.tanh(epsilon / 2);
}

/** Returns a name for a level's place among all. */
export function levelName(place, count) {
  if (count === 1) return "The level of this survey";
  if (place === 0) return "Most private";
  if (place === count - 1) return "Most helpful";
  return count === 3 ? "In between" : `Step ${place + 1} of ${count}`;
}

/** Returns a number as people of the page's language write it. */
export function asText(number) {
  return number.toLocaleString("en", { maximumFractionDigits: 6 });
}

const REFUSED = {
  "token-spent":
    "This link was used before. Every link counts once, so nothing was sent again. If it " +
    "was you who used it, your message has already arrived: there is nothing left to do.",
  "token-forged":
    "This link does not belong to this round of the survey. Open the newest link you were " +
    "given, or ask whoever invited you for a new one.",
  "not-open": "This round of the survey is closed, and takes no more messages.",
  "wrong-epoch":
    "Another round of the survey has begun since you opened this page. Open your newest " +
    "link again.",
  "wrong-stage":
    "The survey has moved on to its next step since you opened this page. Open your link " +
    "again.",
  "storage-full": "The survey's server has no room left at the moment. Try again later.",
  "unknown-task": "This survey is not known here. Check that the link is complete.",
};

/** Returns what a problem document (RFC 9457) means for who sent a message. */
export function refusalText(problem) {
  const reason = String(problem?.type ?? "").replace("urn:shuffledp:problem:", "");
  const said = REFUSED[reason];
  if (said) return said;
  const detail = typeof problem?.title === "string" ? ` (${problem.title}.)` : "";
  return `The survey's server did not take the message.${detail}`;
}
