// The page's own texts, and a task's, in the language that a person reads.

import { translated } from "shuffledp-device";

import { GERMAN } from "./texts-de.js";
import { ENGLISH } from "./texts-en.js";

export const CATALOGS = Object.freeze({ en: ENGLISH, de: GERMAN });

let spoken = "en";

/** Chooses the language of the page's own texts: English where there is no catalog. */
export function speak(language) {
  spoken = nearest(language, Object.keys(CATALOGS)) ?? "en";
}

/** Returns the language of the page's own texts. */
export function language() {
  return spoken;
}

/** Returns one of the page's own texts. */
export function t(name, values = {}) {
  const text = CATALOGS[spoken][name];
  if (text === undefined) throw new RangeError(`Expected a text of the page, got ${name}.`);
  return text.replace(/\{(\w+)\}/g, (_, key) => values[key]);
}

/** Returns the languages that a task can be read in, by their names' order. */
export function offered({ notice }) {
  return [...new Set([...Object.keys(CATALOGS), ...textLanguages(notice)])].sort();
}

/**
 * Returns the language that a person probably wants.
 *
 * @param task As the shuffler serves it.
 * @param {readonly string[]} wishes The browser's, dearest first.
 */
export function preferred({ notice }, wishes) {
  for (const wish of wishes) {
    // A whole task in a language beats the page's own texts alone.
    const found =
      nearest(wish, textLanguages(notice)) ?? nearest(wish, Object.keys(CATALOGS));
    if (found) return found;
  }
  return notice.language;
}

/** Returns a survey with the task's texts in a language, as far as they are translated. */
export function inLanguage(survey, wanted) {
  const { task } = survey;
  const textLanguage = Object.hasOwn(task.notice.translations, wanted) ? wanted : task.notice.language;
  return { ...survey, textLanguage, task: translated(task, wanted) };
}

function textLanguages(notice) {
  return [notice.language, ...Object.keys(notice.translations)];
}

function nearest(wish, languages) {
  const [base] = wish.split("-");
  return (
    languages.find((known) => known === wish) ??
    languages.find((known) => known.split("-")[0] === base)
  );
}
