// Devices of several messages draw from the distributions that spec/mechanisms.md states.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bucketsOf } from "../dist/form-encoding.js";
import { draw } from "../dist/message.js";
import { randomizeAnswers } from "../dist/noise-messages.js";
import { readSurvey } from "../dist/survey.js";
import { checkLaw, uniform } from "./check-law.mjs";
import { NOISE, caseNamed, seeded } from "./vectors.mjs";

const poisson = (mean) => (count) => {
  let probability = Math.exp(-mean);
  for (let j = 1; j <= count; j += 1) probability *= mean / j;
  return probability;
};

/** Probabilities of 0, 1, ..., last - 1 and of `last` or more. */
function countsUntil(last, mean) {
  const law = [...Array(last).keys()].map(poisson(mean));
  return [...law, 1 - law.reduce((sum, each) => sum + each, 0)];
}

test("items are sent by their rate, among a Poisson number", async (t) => {
  const survey = await readSurvey(caseNamed("items, answers").served);
  const rate = survey.plan.rates[1];
  const sent = [(1 - rate) ** 2, rate * (1 - rate), rate * (1 - rate), rate ** 2];
  const law = sent.flatMap((each) => countsUntil(6, 1.25).map((other) => each * other));
  const rng = seeded(7);

  checkLaw(t, law, () => {
    const report = draw(survey, 1, [1, 3], rng);
    assert.equal(report.length, 24);
    const pattern = (report[0] === 1 ? 1 : 0) + (report[1] === 3 ? 2 : 0);
    const noise = report.slice(2).filter((item) => item < 4).length;
    return 7 * pattern + Math.min(noise, 6);
  });
});

test("noise among items is uniform on them", async (t) => {
  const survey = await readSurvey(caseNamed("items, answers").served);
  const rng = seeded(8);
  let noise = [];

  checkLaw(t, uniform(4), () => {
    while (!noise.length) noise = draw(survey, 0, [], rng).filter((item) => item < 4);
    return noise.pop();
  });
});

test("answers to several questions are sent by their rate, among their plan's noise", async (t) => {
  const survey = await readSurvey(caseNamed("counts, answers").served);
  const rate = survey.plan.rates[0];
  const chosen = [1, 3, 5, 6];
  const places = [0, 1, 2, 3];
  const patterns = [...Array(16).keys()].map((pattern) =>
    places.reduce((product, place) => product * ((pattern >> place) & 1 ? rate : 1 - rate), 1),
  );
  // 998 people share it: 4 x 175.3 / 998 messages, and twice 2 x 124.0 / 998.
  const noise = countsUntil(4, (4 * 175.33844010370345 + 4 * 123.983) / 998);
  const law = patterns.flatMap((each) => noise.map((other) => each * other));
  const rng = seeded(9);

  checkLaw(t, law, () => {
    const report = draw(survey, 0, chosen, rng);
    assert.equal(report.length, 20);
    // An answer of a question stands at its place, before all noise.
    const pattern = places.reduce(
      (sum, place) => sum + (report[place] === 2 * chosen[place] ? 2 ** place : 0),
      0,
    );
    return 5 * pattern + Math.min(report.slice(4).filter((message) => message < 16).length, 4);
  });
});

for (const { name, groups, report_size: size, cells, law } of NOISE) {
  test(`${name}: noise has its law until a report is full`, (t) => {
    const buckets = cells[0].length;
    const places = new Map(cells.map((cell, place) => [String(cell), place]));
    const parts = groups.map(({ mean, ...group }) => ({ ...group, noise: mean }));
    const rng = seeded(size);

    checkLaw(t, law, () => {
      const cell = new Array(buckets).fill(0);
      for (const message of randomizeAnswers([], parts, size, 1, rng)) {
        if (message < 2 * buckets) cell[message / 2] += 1;
      }
      return places.get(String(cell));
    });
  });
}

test("a number that is rounded at random is so without bias", (t) => {
  const question = { text: "?", unit: "", low: 0, high: 30, steps: 3, levels: [[2, 2], [1, 2]] };
  const rng = seeded(12);

  // 17.5 is 1.75 steps: both levels say 1, or the first one says 0 and the second one 1.
  checkLaw(t, [0.25, 0.75], () => {
    const [first, second] = bucketsOf([17.5], [question], rng);
    assert.deepEqual([first, second], first === 1 ? [1, 2] : [0, 3]);
    return first;
  });
});
