// A task's texts in another language: what is read changes, and no byte of what is sent.

import type { Question, Task, Terms } from "./task.js";

/** Returns the texts that people read, of several questions the text of each first. */
export function answerTexts({ categories, questions }: Terms): string[] {
  return categories ?? questions?.flatMap(textsOf) ?? [];
}

/** Returns a task with its texts in a language; as it is if they are not translated. */
export function translated(task: Task, language: string): Task {
  const { notice, question } = task;
  if (!Object.hasOwn(notice.translations, language)) return task;
  const translation = notice.translations[language]!;
  const terms = withTexts(question.terms, translation.answers);
  return {
    ...task,
    name: translation.name,
    notice: { ...notice, consent: translation.consent },
    question: { ...question, text: translation.question, terms },
  };
}

/** Returns the texts of a question; of one that is made of others, none. */
function textsOf(question: Question): string[] {
  if ("options" in question) return [question.text, ...question.options];
  if (!("levels" in question)) return [];
  return question.unit ? [question.text, question.unit] : [question.text];
}

/** Returns terms with other texts, in the order of `answerTexts`. */
function withTexts(terms: Terms, texts: string[]): Terms {
  if (terms.categories) return { ...terms, categories: texts };
  if (!terms.questions) return terms;
  const rest = [...texts];
  const questions = terms.questions.map((asked) => {
    const [text, ...others] = rest.splice(0, textsOf(asked).length);
    if ("options" in asked) return { ...asked, text: text!, options: others };
    return "levels" in asked ? { ...asked, text: text!, unit: others[0] ?? "" } : asked;
  });
  return { ...terms, questions };
}
