// What mechanisms that take one of several categories have in common.

import { t } from "../texts.js";
import { asText } from "../words.js";

// A message may name half of 10,000 categories.
const MOST_LINES = 12;

/** Returns the form of one of several texts; null where a question has none. */
export function oneOf({ categories }) {
  return Array.isArray(categories) ? { kind: "one of", options: categories } : null;
}

/** Tells whether a certificate is about the categories and the mechanism of a question. */
export function isAboutCategories({ mechanism, parameters }, terms) {
  const asked = terms.mechanism ?? mechanism;
  return mechanism === asked && parameters.categories === terms.categories.length;
}

/** Returns lines with the categories that a message names. */
export function describeSeveral(named) {
  if (!named.length) return [t("no-answers")];
  const more = named.length - MOST_LINES;
  return more > 0 ? [...named.slice(0, MOST_LINES), t("and-more", { count: asText(more) })] : named;
}

/** Returns lines with the options that numbers name; larger numbers stand for nothing. */
export function describeNumbers(numbers, options) {
  const times = new Map();
  for (const number of numbers.filter((item) => item < options.length)) {
    times.set(number, (times.get(number) ?? 0) + 1);
  }
  const named = [...times].sort(([one], [other]) => one - other);
  const lines = named.map(([item, count]) =>
    count > 1 ? t("times", { name: options[item], count }) : options[item],
  );
  const empty = numbers.length - [...times.values()].reduce((sum, count) => sum + count, 0);
  if (!empty) return lines;
  return [...lines, empty > 1 ? t("empty", { count: empty }) : t("one-empty")];
}
