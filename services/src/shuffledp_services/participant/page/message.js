// Messages of an answer: drawn, sealed for upload, and described for the participant.

import { formOf, mechanismOf } from "./mechanisms/catalog.js";
import { seal } from "./seal.js";
import { isCentral } from "./survey.js";
import { t } from "./texts.js";
import * as wire from "./wire.js";
import { sureness } from "./words.js";

/**
 * Returns an answer of the form as numbers: the same ones for the same answer.
 *
 * @param answer A number, or some; of several questions what was picked, and `numbers` in
 *   the order of their questions.
 */
export function answerNumbers(answer) {
  if (answer === null) return [];
  const { picked, numbers } = answer.picked ? answer : { picked: [answer].flat(), numbers: [] };
  const inOrder = [...picked].sort((one, other) => one - other);
  // Minus zero is zero.
  return [...inOrder, ...numbers].map((number) => number + 0);
}

/**
 * Draws the messages of an answer, which the analyst will see.
 *
 * @param survey From `read`.
 * @param {number} level The position of the level, or of the target.
 * @param {number[]} answer From `answerNumbers`.
 * @param rng The only source of randomness.
 * @returns {(number | number[])[]} Numbers; of subset selection, a set of categories.
 */
export function draw(survey, level, answer, rng) {
  const { step, task, plan } = survey;
  // Targets are reported as they are, sealed and without a name.
  if (step.stage === wire.Stage.choice) return [level];
  const asked = { form: formOf(task), answer, level, epsilon: task.choices[level] };
  return mechanismOf(task).draw({ ...asked, task, plan, rng });
}

/** Returns a drawn message as it is before it is sealed. */
export function plainOf({ step, task }, message) {
  if (step.stage === wire.Stage.choice) return wire.plainMessage(message);
  return mechanismOf(task).plainOf(message, formOf(task));
}

/** Seals drawn messages, and returns the whole upload. */
export async function pack(survey, level, messages, token) {
  const { question } = survey.task;
  const linked = question.mode === "stratified" && survey.step.stage === wire.Stage.answer;
  const info = wire.messageInfo(survey.step, linked ? level : wire.UNLINKED);
  const plain = messages.map((message) => plainOf(survey, message));
  const sealed = await seal(survey.analystKey, info, plain);
  const place = isCentral(survey) ? wire.UNLINKED : level;
  return wire.upload(survey.step, survey.taskId, token, place, sealed);
}

/** Returns the lines that describe drawn messages. */
export function describe({ step, task }, numbers) {
  if (step.stage === wire.Stage.choice) {
    return [t("at-most-sure", { sure: sureness(task.choices[numbers[0]]) })];
  }
  return mechanismOf(task).describe(numbers, formOf(task));
}
