// Fields of the form for numbers, and what is missing in them.

import { language, t } from "./texts.js";
import { asText } from "./words.js";
import { el } from "./view.js";

const GROUPED = { useGrouping: "always" };

/** What is missing in the form, for people to read; `at` is where. */
export class Missing extends Error {
  constructor(text, at) {
    super(text);
    this.at = at;
  }
}

/** Returns a labelled field for a number of a range, perhaps with a unit. */
export function numberField(id, range, { lang = null } = {}) {
  const unit = range.unit ? el("span", { lang, dir: "auto" }, range.unit) : null;
  return [
    el("label", { for: id }, t("number-label", ends(range)), unit && " · ", unit),
    el("input", {
      id,
      type: "text",
      inputmode: range.low < 0 ? "text" : "decimal",
      autocomplete: "off",
    }),
  ];
}

/** Returns the number in a field; throws Missing, with the part of the form it is in. */
export function readNumber(id, range, part) {
  const text = document.getElementById(id).value.trim();
  // 1,500 is a thousand and a half in English, and one and a half in German.
  if (isGrouped(text)) throw new Missing(t("missing-separator"), part);
  const number = text === "" ? NaN : Number(text.replace(",", "."));
  if (!(number >= range.low && number <= range.high)) {
    const missing = range.skippable ? "missing-number-or-skip" : "missing-number";
    throw new Missing(t(missing, ends(range)), part);
  }
  return number;
}

function ends({ low, high }) {
  return { low: asText(low), high: asText(high) };
}

/** Tells whether a number has what the language writes between thousands, and no more. */
function isGrouped(text) {
  const [, group] = /^\d(.)\d{3}$/.exec((1000).toLocaleString(language(), GROUPED)) ?? [];
  const [, found] = /^[+-]?[1-9]\d{0,2}([.,])\d{3}$/.exec(text) ?? [];
  return found !== undefined && found === group;
}
