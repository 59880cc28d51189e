// Messages of an answer: drawn, sealed for upload, and what they say.

import type { Bytes } from "./bytes.js";
import type { Meaning, Message } from "./mechanism.js";
import { formOf, mechanismOf } from "./mechanisms/catalog.js";
import { UNLINKED, messageInfo, plainNumber, upload } from "./message-bytes.js";
import type { Draws } from "./rng.js";
import { seal } from "./sealing.js";
import { hasTargets } from "./survey.js";
import type { Survey } from "./survey.js";
import type { Task } from "./task.js";

/**
 * An answer of a form: a number (a category, a number of the range; 1 is yes), several
 * categories, or of several questions the options that were picked, counted over all choices,
 * and the numbers in the order of their questions, null for one that was skipped. null where
 * people choose a target.
 */
export type Answer = number | number[] | { picked: number[]; numbers: (number | null)[] } | null;

/** Returns an answer of a form as numbers, NaN for a skip: the same ones for the same answer. */
export function answerNumbers(answer: Answer): number[] {
  if (answer === null) return [];
  const { picked, numbers } =
    typeof answer === "number" || Array.isArray(answer)
      ? { picked: [answer].flat(), numbers: [] }
      : answer;
  const stated = numbers.filter((number) => number !== null);
  if (![...picked, ...stated].every(Number.isFinite)) throw new RangeError("Expected numbers.");
  const inOrder = [...picked].sort((one, other) => one - other);
  // Minus zero is zero.
  return [...inOrder, ...numbers].map((number) => (number === null ? NaN : number + 0));
}

/**
 * Draws the messages of an answer, which the analyst will see.
 *
 * @param level The position of the level, or of the target.
 * @param answer From `answerNumbers`.
 * @param rng The only source of randomness.
 */
export function draw(survey: Survey, level: number, answer: number[], rng: Draws): Message[] {
  const { task, plan, isChoosing } = survey;
  const epsilon = task.choices[level];
  if (epsilon === undefined) throw new RangeError("Expected the position of a choice.");
  // Targets are reported as they are, sealed and without a name.
  if (isChoosing) return [level];
  const parameters = plan ?? task.protocol.parameters;
  return mechanismOf(task).draw({ form: formOf(task), answer, level, epsilon, parameters, rng });
}

/** Returns a drawn message as it is before it is sealed. */
export function plainOf({ task, isChoosing }: Survey, message: Message): Bytes {
  if (isChoosing) return plainNumber(message as number);
  return mechanismOf(task).plainOf(message, formOf(task));
}

/** Seals drawn messages, and returns the whole upload. */
export async function pack(
  survey: Survey,
  level: number,
  messages: Message[],
  token: Bytes,
): Promise<Bytes> {
  const { task, step, isChoosing, analystKey, taskId } = survey;
  const isLinked = task.question.mode === "stratified" && !isChoosing;
  const info = messageInfo(step, isLinked ? level : UNLINKED);
  const sealed = await seal(analystKey, info, messages.map((message) => plainOf(survey, message)));
  return upload(step, taskId, token, hasTargets(survey) ? UNLINKED : level, sealed);
}

/** Returns the kind of meaning that messages of answers have. */
export function meaningKind(task: Task): Meaning["kind"] {
  return mechanismOf(task).meaningKind(formOf(task));
}

/** Returns what drawn messages say, of a survey in the step of answers. */
export function meaningOf(task: Task, messages: Message[]): Meaning {
  return mechanismOf(task).meaningOf(messages, formOf(task));
}
