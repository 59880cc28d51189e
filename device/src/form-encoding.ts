// Answers of a form as buckets, as shuffledp.statistics.counts.form_encoding makes them:
// the task states widths and numbers of buckets, and the device follows, whatever they
// stand for.

import type { Cell } from "./mechanism.js";
import type { Draws } from "./rng.js";
import { roundAtRandom } from "./single-message.js";
import type { Choice, Combination, Quantity, Question } from "./task.js";

// Largest number of steps that a number is rounded to.
const MOST_STEPS = 2 ** 24;
// Most questions that are counted together.
const MOST_COMBINED = 4;

/** Coordinates of a group's buckets: (question, width, buckets), the last varying fastest. */
type Coordinate = [question: number, width: number, buckets: number];

/** Buckets of which a person has at most `most`. */
export interface BucketGroup {
  /** A bucket of one is floor(position / width) mod buckets. */
  coordinates: Coordinate[];
  buckets: number;
  most: number;
  /** The bucket of those who skipped a number; null if there is none. */
  skipped: number | null;
}

export function isChoice(question: Question | undefined): question is Choice {
  return (question as Partial<Choice> | undefined)?.options !== undefined;
}

export function isNumber(question: Question | undefined): question is Quantity {
  return (question as Partial<Quantity> | undefined)?.levels !== undefined;
}

/** Returns the questions that people are asked; the others are made of them. */
export function askedQuestions(questions: Question[]): (Choice | Quantity)[] {
  return questions.filter((question) => isChoice(question) || isNumber(question));
}

/** Tells whether questions, and how answers become buckets, are described in full. */
export function isForm(value: unknown): value is Question[] {
  if (!Array.isArray(value) || value.some((entry) => typeof entry !== "object" || !entry)) return false;
  const questions = value as Question[];
  return (
    askedQuestions(questions).length > 0 &&
    questions.every((question) => {
      if (isChoice(question)) return isWholeChoice(question);
      return isNumber(question) ? isWholeNumber(question) : isMadeOf(question, questions);
    }) &&
    haveDifferentLabels(questions.filter(isChoice))
  );
}

/** Tells whether results can name every option apart from all others. */
function haveDifferentLabels(choices: Choice[]): boolean {
  const labels = choices.flatMap(({ text, options }) => options.map((option) => `${text}: ${option}`));
  return new Set(labels).size === labels.length;
}

function isWholeChoice(choice: Choice): boolean {
  const { text, options, most } = choice;
  const isText = Array.isArray(options) && [text, ...options].every(isString);
  const isPossible = isText && options.length >= 2 && isWhole(most, 1) && most <= options.length;
  return isPossible && hasOnly(choice, "text", "options", "most");
}

function isWholeNumber(number: Quantity): boolean {
  const { text, unit, low, high, edges, steps, levels, skippable } = number;
  const sometimes = [edges === undefined ? "steps" : "edges"];
  if (skippable !== undefined) sometimes.push("skippable");
  // Where numbers are not in order, or are none, a comparison is false.
  const inOrder = (numbers: number[]) =>
    numbers.every((edge, place) => !place || numbers[place - 1]! < edge);
  const isRange = Number.isFinite(low) && Number.isFinite(high) && low < high;
  const isDivided =
    steps === undefined &&
    Array.isArray(edges) &&
    edges.length >= 3 &&
    edges.every(Number.isFinite) &&
    inOrder(edges) &&
    edges[0] === low &&
    edges.at(-1) === high;
  const isStepped = edges === undefined && isWhole(steps, 1) && steps <= MOST_STEPS;
  return (
    isString(text) &&
    isString(unit) &&
    isRange &&
    (isDivided || isStepped) &&
    isList(levels) &&
    levels.every(isLevel) &&
    (skippable === undefined || skippable === true) &&
    hasOnly(number, "text", "unit", "low", "high", "levels", ...sometimes)
  );
}

function isMadeOf(combination: Combination, questions: Question[]): boolean {
  const { of, groups } = combination;
  if (!isList(of) || of.length < 2 || of.length > MOST_COMBINED) return false;
  const isPart = ([place, ...level]: Coordinate) => {
    const question = questions[place];
    return isLevel(level) && (isNumber(question) || (isChoice(question) && question.most === 1));
  };
  // People are told which questions are counted together: they have to be those.
  const isGroup = (group: unknown) =>
    isList(group) &&
    group.length === of.length &&
    group.every((part, index) => isList(part) && part[0] === of[index] && isPart(part as Coordinate));
  const isPossible = new Set(of).size === of.length && isList(groups) && groups.every(isGroup);
  return isPossible && hasOnly(combination, "of", "groups");
}

function isLevel(level: unknown): boolean {
  return Array.isArray(level) && level.length === 2 && isWhole(level[0], 1) && isWhole(level[1], 2);
}

/** Tells whether a question has these members: an unknown one could change their meaning. */
function hasOnly(question: Question, ...names: string[]): boolean {
  return Object.keys(question).length === names.length && names.every((name) => name in question);
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;
const isString = (value: unknown): value is string => typeof value === "string";
const isWhole = (value: unknown, least: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least;

/** Returns the groups of buckets of a form, question by question. */
export function groupsOf(questions: Question[]): BucketGroup[] {
  return questions.flatMap((question, place) => {
    if (isNumber(question)) return question.levels.map((level) => levelOf(question, place, level));
    const most = isChoice(question) ? question.most : 1;
    const groups: Coordinate[][] = isChoice(question)
      ? [[[place, 1, question.options.length]]]
      : question.groups;
    return groups.map((coordinates) => {
      const buckets = coordinates.reduce((product, [, , count]) => product * count, 1);
      return { coordinates, buckets, most, skipped: null };
    });
  });
}

function levelOf(
  { steps, skippable }: Quantity,
  place: number,
  [width, buckets]: [number, number],
): BucketGroup {
  // Of digits the last bucket holds skips alone, of ranges perhaps numbers, too.
  const own = skippable && steps !== undefined ? buckets - 1 : buckets;
  const skipped = skippable ? buckets - 1 : null;
  return { coordinates: [[place, width, own]], buckets, most: 1, skipped };
}

/** Returns for each bucket, counted over all groups, a cell for each of its coordinates. */
export function cellsOf(questions: Question[]): Cell[][] {
  return groupsOf(questions).flatMap(({ coordinates, buckets }, group) =>
    Array.from({ length: buckets }, (_, place) =>
      coordinates.map(([question, , count], part) => {
        const later = coordinates.slice(part + 1);
        const below = later.reduce((product, [, , each]) => product * each, 1);
        const bucket = Math.floor(place / below);
        // Nothing stands before the first part: its last bucket may be one for skips.
        return { question, group, bucket: part ? bucket % count : bucket };
      }),
    ),
  );
}

/**
 * Returns the buckets of an answer, counted over all groups.
 *
 * @param answer Different options, counted over all choices; then a number for each question
 *   for one, NaN where it was skipped.
 * @param rng For numbers that are rounded at random.
 */
export function bucketsOf(answer: number[], questions: Question[], rng: Draws): number[] {
  const positions = positionsOf(answer, questions, rng);
  let next = 0;
  return groupsOf(questions).flatMap(({ coordinates, buckets, skipped }) => {
    const first = next;
    next += buckets;
    const places = placesOf(coordinates, positions);
    if (!places.length && skipped !== null) places.push(skipped);
    return places.map((place) => first + place);
  });
}

function placesOf(coordinates: Coordinate[], positions: number[][]): number[] {
  return coordinates.reduce(
    (places, [question, width, buckets]) =>
      places.flatMap((place) =>
        positions[question]!.map(
          (position) => place * buckets + (Math.floor(position / width) % buckets),
        ),
      ),
    [0],
  );
}

/** Returns the positions of a person, for each question a list. */
function positionsOf(answer: number[], questions: Question[], rng: Draws): number[][] {
  const count = questions.filter(isNumber).length;
  const total = questions
    .filter(isChoice)
    .reduce((options, choice) => options + choice.options.length, 0);
  const picked = answer.slice(0, Math.max(answer.length - count, 0));
  const numbers = answer.slice(picked.length);
  if (numbers.length !== count) throw new RangeError("Expected a number for each question.");
  if (picked.some((option) => !(isWhole(option, 0) && option < total))) {
    throw new RangeError("Expected options of the questions.");
  }
  let next = 0;
  return questions.map((question) => {
    if (isNumber(question)) return positionsOnScale(numbers.shift()!, question, rng);
    if (!isChoice(question)) return [];
    const first = next;
    next += question.options.length;
    return picked
      .filter((option) => option >= first && option < next)
      .map((option) => option - first);
  });
}

/** Returns the position of a number; none of one that was skipped. */
function positionsOnScale(number: number, question: Quantity, rng: Draws): number[] {
  const { low, high, edges, steps, skippable } = question;
  const isSkipped = skippable === true && Number.isNaN(number);
  const stated = isSkipped ? low : number;
  // A text would be compared as a number. Written this way round, it refuses what is none.
  if (typeof stated !== "number" || !(stated >= low && stated <= high)) {
    throw new RangeError("Expected a number in the range.");
  }
  // A skip uses up as many draws as a number.
  const position = edges
    ? edges.slice(1, -1).filter((edge) => edge <= stated).length
    : roundAtRandom(stated, low, high, steps!, rng);
  return isSkipped ? [] : [position];
}
