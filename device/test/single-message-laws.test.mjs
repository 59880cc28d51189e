// Devices of one message draw from the distributions that spec/mechanisms.md states.

import assert from "node:assert/strict";
import { test } from "node:test";

import { draw } from "../dist/message.js";
import { readSurvey } from "../dist/survey.js";
import { checkLaw, uniform } from "./check-law.mjs";
import { pValue, upperTail } from "./chi-square.mjs";
import { caseNamed, seeded } from "./vectors.mjs";

/** gamma of the text, and the two laws mixed. */
function mixed(share, epsilon, ignoring, speaking) {
  const gamma = 1 / (1 + share * (Math.exp(epsilon) - 1));
  return ignoring.map((each, place) => gamma * each + (1 - gamma) * speaking[place]);
}

const onlyAt = (place, size) => uniform(size).map((_, each) => (each === place ? 1 : 0));
const among = (cells, size) =>
  uniform(size).map((_, each) => (cells.includes(each) ? 1 / cells.length : 0));

test("the test statistic has its known quantiles", () => {
  // Quantiles of chi-square at 1 - 10^-7, by degrees of freedom.
  const known = { 1: 28.37399, 2: 32.23619, 3: 35.40575, 7: 45.69982, 164: 276.0919 };

  for (const [degrees, quantile] of Object.entries(known)) {
    const tail = upperTail(quantile, Number(degrees));
    assert.ok(Math.abs(tail - 1e-7) < 2e-12, `${degrees}: ${tail}`);
  }
  assert.ok(Math.abs(upperTail(0.4549364, 1) - 0.5) < 1e-6);
  assert.ok(Math.abs(upperTail(1.3862944, 2) - 0.5) < 1e-6);
  assert.ok(pValue([60, 40], [0.4, 0.6]) < 1e-4);
});

for (const name of ["frequency, agnostic", "frequency, stratified"]) {
  for (const level of [0, 1]) {
    test(`${name}, choice ${level}: categories have their law`, async (t) => {
      const survey = await readSurvey(caseNamed(name).served);
      const law = mixed(1 / 3, survey.task.choices[level], uniform(3), onlyAt(2, 3));
      const rng = seeded(name.length + 100 * level);

      checkLaw(t, law, () => draw(survey, level, [2], rng)[0]);
    });
  }
}

test("sets of categories have their law", async (t) => {
  const survey = await readSurvey(caseNamed("frequency, subset-selection").served);
  const sets = [];
  for (let bits = 0; bits < 2 ** 11; bits += 1) {
    const set = [...Array(11).keys()].filter((place) => (bits >> place) & 1);
    if (set.length === 3) sets.push(set);
  }
  const places = new Map(sets.map((set, place) => [String(set), place]));
  const own = [...sets.keys()].filter((place) => sets[place].includes(4));
  const law = mixed(3 / 11, survey.task.choices[1], uniform(165), among(own, 165));
  const rng = seeded(2);

  checkLaw(t, law, () => places.get(String(draw(survey, 1, [4], rng)[0])));
});

test("columns have their law", async (t) => {
  const survey = await readSurvey(caseNamed("frequency, hadamard-response").served);
  const ones = (column) => (column & 5).toString(2).replaceAll("0", "").length;
  const own = [...Array(16).keys()].filter((column) => ones(column) % 2 === 0);
  const law = mixed(1 / 2, survey.task.choices[1], uniform(16), among(own, 16));
  const rng = seeded(3);

  checkLaw(t, law, () => draw(survey, 1, [4], rng)[0]);
});

for (const [answer, share] of [[0, 0], [1, 1]]) {
  test(`bits about ${answer ? "yes" : "no"} have their law`, async (t) => {
    const survey = await readSurvey(caseNamed("sum").served);
    const law = mixed(1 / 2, survey.task.choices[1], [0.5, 0.5], [1 - share, share]);
    const rng = seeded(40 + answer);

    checkLaw(t, law, () => draw(survey, 1, [answer], rng)[0]);
  });
}

for (const [answer, share] of [[-40, 0], [2.5e20, 0.25], [1e21, 1]]) {
  test(`bits about ${answer} have their law`, async (t) => {
    const survey = await readSurvey(caseNamed("mean").served);
    const law = mixed(1 / 2, survey.task.choices[1], [0.5, 0.5], [1 - share, share]);
    const rng = seeded(50 + 4 * share);

    checkLaw(t, law, () => draw(survey, 1, [answer], rng)[0]);
  });
}

for (const [answer, below, part] of [[-40, 0, 0], [-2.125, 8, 0.25], [10.5, 11, 0]]) {
  test(`points about ${answer} have their law`, async (t) => {
    const survey = await readSurvey(caseNamed("mean, grid-response").served);
    const rounded = uniform(12).map((_, point) => {
      if (point === below) return 1 - part;
      return point === below + 1 ? part : 0;
    });
    const law = mixed(1 / 12, survey.task.choices[1], uniform(12), rounded);
    const rng = seeded(60 + below);

    checkLaw(t, law, () => draw(survey, 1, [answer], rng)[0]);
  });
}
