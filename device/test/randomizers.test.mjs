// Randomizers and their source of words, without chance: scripted words, all draws at once.

import assert from "node:assert/strict";
import { test } from "node:test";

import { randomizeAnswers, randomizeItems, stopAndGo } from "../dist/noise-messages.js";
import { Rng } from "../dist/rng.js";
import {
  blanketProbability,
  gridNumber,
  numColumns,
  randomizeCategory,
  randomizeColumn,
  randomizeNumber,
  randomizeOnGrid,
  randomizeSubset,
  speaksFor,
} from "../dist/single-message.js";
import { MESSAGES, scripted } from "./vectors.mjs";

test("blanket probabilities are on the safe side of the formula, and those of Python", () => {
  for (const entry of MESSAGES.blanket_chances) {
    const probability = blanketProbability(entry.epsilon, 1 / entry.categories);

    const formula = Number(entry.formula);
    assert.ok(probability >= formula, `${entry.epsilon}: less private than promised`);
    assert.ok(probability <= formula * (1 + 2e-15));
    const apart = Math.abs(probability - entry.drawn_in_python);
    assert.ok(apart <= 4.5e-16 * probability, `${entry.epsilon}: two last digits at most`);
  }
});

test("Poisson numbers stop where those of Python stop", () => {
  for (const entry of MESSAGES.stop_and_go) {
    const { stop, go } = stopAndGo(entry.blanket, entry.cap);

    assert.deepEqual([...stop.slice(0, entry.cap)], entry.stop);
    assert.deepEqual([...go.slice(0, entry.cap)], entry.go);
  }
});

test("a draw uses every bit of its probability", () => {
  const tiny = 2 ** -53 * 0.75;
  const zero = [0, 0];

  // The first 53 bits tie with 0; the next ones decide against 0.75.
  assert.equal(scripted(...zero, 0x80000000, 0).bernoulli(tiny), true);
  assert.equal(scripted(...zero, 0xc0000000, 0).bernoulli(tiny), false);
  assert.equal(scripted(0, 64).bernoulli(tiny), false);
  assert.equal(scripted(...zero).bernoulli(0), false);
  assert.equal(scripted(0xffffffff, 0xffffffff).bernoulli(1), true);
  assert.equal(scripted(0x7fffffff, 0xffffffff).bernoulli(0.5), true);
  assert.equal(scripted(0x80000000, 0).bernoulli(0.5), false);
  for (const probability of [NaN, -0.1, 1.1, undefined]) {
    assert.throws(() => scripted().bernoulli(probability), RangeError);
  }
});

test("words that would favor small numbers are drawn again", () => {
  assert.equal(scripted(0xffffffff, 5).below(3), 2);
  assert.equal(scripted(0xfffffffe).below(3), 2);
  assert.equal(scripted(0xffffffff).below(2 ** 32), 0xffffffff);
  for (const span of [0, 1.5, 2 ** 33, NaN]) {
    assert.throws(() => scripted().below(span), RangeError);
  }
});

test("the operating system's words are the default", () => {
  const rng = new Rng();

  const drawn = new Set(Array.from({ length: 20 }, () => rng.bits53()));

  assert.equal(drawn.size, 20);
  assert.ok([...drawn].every((number) => Number.isSafeInteger(number) && number < 2 ** 53));
});

/** Runs `drawOne` once for everything that chance could do, where Bernoulli draws are known. */
function everyDraw(ignores, drawOne) {
  const results = new Map();
  const open = [[]];
  while (open.length) {
    const given = open.pop();
    let place = 0;
    const rng = {
      bernoulli: () => ignores,
      below: (span) => {
        if (place === given.length) {
          for (let other = 1; other < span; other += 1) open.push([...given, other]);
          given.push(0);
        }
        return given[place++];
      },
    };
    const result = String(drawOne(rng));
    results.set(result, (results.get(result) ?? 0) + 1);
  }
  return results;
}

function binomial(count, size) {
  return size === 0 ? 1 : (binomial(count - 1, size - 1) * count) / size;
}

test("of everything that chance could do, each set of a kind comes up equally often", () => {
  for (const [count, size] of [[5, 3], [5, 1], [5, 4], [2, 1], [9, 2]]) {
    for (const value of [0, 1, count - 1]) {
      const any = everyDraw(true, (rng) => randomizeSubset(value, count, size, 1, rng));
      const own = everyDraw(false, (rng) => randomizeSubset(value, count, size, 1, rng));

      const ways = binomial(count, size);
      assert.equal(any.size, ways);
      assert.equal(new Set(any.values()).size, 1);
      assert.equal(own.size, (ways * size) / count);
      assert.equal(new Set(own.values()).size, 1);
      for (const set of own.keys()) {
        assert.ok(set.split(",").includes(String(value)));
        assert.ok(any.has(set), "One spelling for each set.");
      }
    }
  }
});

test("of everything that chance could do, each column of a kind comes up equally often", () => {
  for (const count of [2, 3, 4, 7, 8]) {
    for (let value = 0; value < count; value += 1) {
      const any = everyDraw(true, (rng) => randomizeColumn(value, count, 1, rng));
      const own = everyDraw(false, (rng) => randomizeColumn(value, count, 1, rng));

      assert.deepEqual([any.size, own.size], [numColumns(count), numColumns(count) / 2]);
      assert.equal(new Set(any.values()).size, 1);
      assert.equal(new Set(own.values()).size, 1);
      assert.ok([...own.keys()].every((column) => speaksFor(Number(column), value)));
    }
  }
});

test("numbers of the grid are moved nowhere, and the ends stay inside", () => {
  for (const [value, point] of [[-10, 0], [0, 1], [30, 4]]) {
    // One draw moves the value, and the other keeps it.
    const probabilities = [];
    const rng = {
      bernoulli: (probability) => {
        probabilities.push(probability);
        return false;
      },
    };

    assert.equal(randomizeOnGrid(value, -10, 30, 5, 1, rng), point);
    assert.deepEqual(probabilities, [0, blanketProbability(1, 1 / 5)]);
  }
  assert.deepEqual([0, 1, 4].map((point) => gridNumber(point, -10, 30, 5)), [-10, 0, 30]);
});

/** Returns the probabilities of all Bernoulli draws, each of which comes up `outcome`. */
function probabilitiesOf(outcome, randomize) {
  const probabilities = [];
  const bernoulli = (probability) => {
    probabilities.push(probability);
    return outcome;
  };
  randomize({ bernoulli, below: () => 0 });
  return probabilities;
}

test("every draw has the probability of the text, whatever the outcome", () => {
  const gamma = (share) => blanketProbability(0.7, share);
  const numbers = { numItems: 4, setSize: 2, blanket: 0.25, reportSize: 3 };
  const { stop, go } = stopAndGo(0.25, 1);
  assert.ok(go[0] < 0.5 && stop[0] > 0.5);

  for (const outcome of [true, false]) {
    const draws = (randomize) => probabilitiesOf(outcome, randomize);
    assert.deepEqual(draws((rng) => randomizeCategory(1, 5, 0.7, rng)), [gamma(1 / 5)]);
    assert.deepEqual(draws((rng) => randomizeSubset(1, 5, 2, 0.7, rng)), [gamma(2 / 5)]);
    assert.deepEqual(draws((rng) => randomizeColumn(1, 5, 0.7, rng)), [gamma(1 / 2)]);
    const share = outcome ? 0.5 : 0.25;
    assert.deepEqual(draws((rng) => randomizeNumber(0, -1, 3, 0.7, rng)), [gamma(1 / 2), share]);
    const grid = draws((rng) => randomizeOnGrid(0, -1, 3, 8, 0.7, rng));
    assert.deepEqual(grid, [0.75, gamma(1 / 8)]);
    // Of nothing held, as much is drawn as of two items.
    for (const held of [[], [1, 2]]) {
      assert.deepEqual(draws((rng) => randomizeItems(held, numbers, 0.3, rng)), [0.3, 0.3, go[0]]);
    }
  }
});

test("answers out of range are never randomized", () => {
  const groups = [
    { buckets: 4, most: 2, noise: 1 },
    { buckets: 2, most: 1, noise: 1 },
  ];
  const rng = scripted();
  for (const answers of [[0, 1, 2], [1, 1], [4, 5], [6], [-1], [0.5], [NaN]]) {
    assert.throws(() => randomizeAnswers(answers, groups, 9, 0.5, rng), RangeError);
  }
  assert.throws(() => randomizeAnswers([], groups, 2, 0.5, rng), RangeError);
  const numbers = { numItems: 4, setSize: 2, blanket: 1, reportSize: 5 };

  for (const value of [-1, 3, 0.5, NaN, "1", null, undefined]) {
    assert.throws(() => randomizeCategory(value, 3, 1, rng), RangeError);
    assert.throws(() => randomizeSubset(value, 3, 1, 1, rng), RangeError);
    assert.throws(() => randomizeColumn(value, 3, 1, rng), RangeError);
  }
  for (const value of [-0.1, 1.1, NaN, undefined]) {
    assert.throws(() => randomizeNumber(value, 0, 1, 1, rng), RangeError);
    assert.throws(() => randomizeOnGrid(value, 0, 1, 5, 1, rng), RangeError);
  }
  for (const set of [[0, 1, 2], [1, 1], [4]]) {
    assert.throws(() => randomizeItems(set, numbers, 0.5, rng), RangeError);
  }
  for (const level of [NaN, -1, Infinity, undefined]) {
    assert.throws(() => randomizeCategory(0, 3, level, rng), RangeError);
    assert.throws(() => randomizeSubset(0, 3, 1, level, rng), RangeError);
    assert.throws(() => randomizeColumn(0, 3, level, new Rng()), RangeError);
  }
  for (const size of [0, 3, 1.5, NaN, undefined]) {
    assert.throws(() => randomizeSubset(0, 3, size, 1, rng), RangeError);
  }
});
