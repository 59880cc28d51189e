// Answers of a form as buckets, as shuffledp.statistics.counts.form_encoding makes them: the
// task states widths and numbers of buckets, and the page follows, whatever they stand for.

import { roundAtRandom } from "./randomize.js";

// Largest number of steps that a number is rounded to.
const MOST_STEPS = 2 ** 24;

export const isChoice = (question) => question?.options !== undefined;
export const isNumber = (question) => question?.levels !== undefined;

/** Returns the questions that people are asked; the others are made of two of them. */
export function asked(questions) {
  return questions.filter((question) => isChoice(question) || isNumber(question));
}

/** Tells whether questions, and how answers become buckets, are described in full. */
export function isForm(questions) {
  return (
    Array.isArray(questions) &&
    asked(questions).length > 0 &&
    questions.every((question) => {
      if (isChoice(question)) return isChoiceWhole(question);
      return isNumber(question) ? isNumberWhole(question) : isMadeOf(question, questions);
    })
  );
}

function isChoiceWhole({ text, options, most }) {
  const isText = Array.isArray(options) && [text, ...options].every(isString);
  return isText && options.length >= 2 && isWhole(most, 1) && most <= options.length;
}

function isNumberWhole({ text, unit, low, high, edges, steps, levels }) {
  // Where numbers are not in order, or are none, a comparison is false.
  const inOrder = (numbers) => numbers.every((edge, place) => !place || numbers[place - 1] < edge);
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
    levels.every(isLevel)
  );
}

function isMadeOf({ groups }, questions) {
  const isPart = ([place, ...level]) => {
    const question = questions[place];
    return isLevel(level) && (isNumber(question) || question?.most === 1);
  };
  const isCell = (cell) => Array.isArray(cell) && isPart(cell);
  return isList(groups) && groups.every((cells) => isList(cells) && cells.every(isCell));
}

function isLevel(level) {
  return Array.isArray(level) && level.length === 2 && isWhole(level[0], 1) && isWhole(level[1], 2);
}

const isList = (value) => Array.isArray(value) && value.length > 0;
const isString = (value) => typeof value === "string";
const isWhole = (value, least) => Number.isSafeInteger(value) && value >= least;

/**
 * Returns the groups of buckets of a form, question by question.
 *
 * @returns {{cells: number[][], buckets: number, most: number, question: number}[]} `cells`
 *   are (question, width, buckets): of a position floor(position / width) mod buckets, the
 *   last varying fastest.
 */
export function groupsOf(questions) {
  return questions.flatMap((question, place) => {
    const made = isChoice(question)
      ? [[[place, 1, question.options.length]]]
      : (question.groups ?? question.levels.map((level) => [[place, ...level]]));
    const most = isChoice(question) ? question.most : 1;
    return made.map((cells) => {
      const buckets = cells.reduce((product, [, , count]) => product * count, 1);
      return { cells, buckets, most, question: place };
    });
  });
}

/**
 * Returns the buckets of an answer, counted over all groups.
 *
 * @param {number[]} answer Different options, counted over all choices; then a number for
 *   each question for one.
 * @param rng For numbers that are rounded at random.
 */
export function bucketsOf(answer, questions, rng) {
  const positions = positionsOf(answer, questions, rng);
  let first = 0;
  return groupsOf(questions).flatMap(({ cells, buckets }) => {
    const begin = first;
    first += buckets;
    return placesOf(cells, positions).map((place) => begin + place);
  });
}

function placesOf(cells, positions) {
  return cells.reduce(
    (places, [question, width, buckets]) =>
      places.flatMap((place) =>
        positions[question].map(
          (position) => place * buckets + (Math.floor(position / width) % buckets),
        ),
      ),
    [0],
  );
}

/** Returns the positions of a person, for each question a list. */
function positionsOf(answer, questions, rng) {
  const count = questions.filter(isNumber).length;
  const total = questions.filter(isChoice).reduce((sum, { options }) => sum + options.length, 0);
  const picked = answer.slice(0, Math.max(answer.length - count, 0));
  const numbers = answer.slice(picked.length);
  // A text would be compared as a number.
  if (numbers.length !== count || !numbers.every(Number.isFinite)) {
    throw new RangeError("Expected a number for each question.");
  }
  if (picked.some((option) => !(isWhole(option, 0) && option < total))) {
    throw new RangeError("Expected options of the questions.");
  }
  let first = 0;
  return questions.map((question) => {
    if (isNumber(question)) return [onScale(numbers.shift(), question, rng)];
    if (!isChoice(question)) return [];
    const begin = first;
    first += question.options.length;
    return picked
      .filter((option) => option >= begin && option < first)
      .map((option) => option - begin);
  });
}

function onScale(number, { low, high, edges, steps }, rng) {
  if (edges === undefined) return roundAtRandom(number, low, high, steps, rng);
  // Written this way round, it refuses what is no number.
  if (!(number >= low && number <= high)) throw new RangeError("Expected a number in the range.");
  return edges.slice(1, -1).filter((edge) => edge <= number).length;
}
