// The page's own texts, and a task's, in the language that a person reads.

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
  const { notice, question } = task;
  const found = notice.translations[wanted];
  if (!found) return { ...survey, textLanguage: notice.language };
  const terms = withTexts(question.terms, found.answers);
  return {
    ...survey,
    textLanguage: wanted,
    task: {
      ...task,
      name: found.name,
      notice: { ...notice, consent: found.consent },
      question: { ...question, text: found.question, terms },
    },
  };
}

/** Returns the texts that people read, of several questions the text of each first. */
export function answerTexts({ categories, questions }) {
  return categories ?? questions?.flatMap(textsOf) ?? [];
}

/** Returns the texts of a question; of one that is made of others, none. */
function textsOf({ text, options, unit }) {
  if (options) return [text, ...options];
  if (text === undefined) return [];
  return unit ? [text, unit] : [text];
}

/** Returns terms with other texts, in the order of `answerTexts`. */
function withTexts(terms, texts) {
  if (terms.categories) return { ...terms, categories: texts };
  if (!terms.questions) return terms;
  const rest = [...texts];
  const questions = terms.questions.map((asked) => {
    const [text, ...others] = rest.splice(0, textsOf(asked).length);
    if (asked.options) return { ...asked, text, options: others };
    return text === undefined ? asked : { ...asked, text, unit: others[0] ?? "" };
  });
  return { ...terms, questions };
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
