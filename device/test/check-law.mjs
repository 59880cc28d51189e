// What tests of distributions share: 300,000 draws each, from a fixed seed.
//
// The result is the same in every run. With a fresh seed, each of the 20 chi-square tests would
// fail by chance once in 10^7 runs.

import assert from "node:assert/strict";

import { pValue } from "./chi-square.mjs";

const DRAWS = 300_000;
const LEAST = 1e-7;

/** Draws cells, and checks their numbers against probabilities that sum up to 1. */
export function checkLaw(t, probabilities, drawCell) {
  const counts = new Array(probabilities.length).fill(0);
  for (let time = 0; time < DRAWS; time += 1) counts[drawCell()] += 1;

  const whole = probabilities.reduce((sum, each) => sum + each, 0);
  assert.ok(Math.abs(whole - 1) < 1e-9, `Probabilities of ${whole} in all.`);
  assert.ok(Math.min(...probabilities) * DRAWS > 5, "A cell is too rare for chi-square.");
  const chance = pValue(counts, probabilities);
  t.diagnostic(`${DRAWS} draws, ${probabilities.length} cells: p = ${chance.toPrecision(3)}`);
  assert.ok(chance > LEAST, `${counts} are far from ${probabilities.map((p) => p * DRAWS)}`);
}

export const uniform = (size) => new Array(size).fill(1 / size);
