// Answers of forms as buckets: those of spec/vectors, and forms that are not whole.

import assert from "node:assert/strict";
import { test } from "node:test";

import { askedQuestions, bucketsOf, groupsOf, isForm } from "../dist/form-encoding.js";
import { answerNumbers } from "../dist/message.js";
import { randomizeAnswers } from "../dist/noise-messages.js";
import { withStream } from "../dist/permanent-randomness.js";
import { readSurvey } from "../dist/survey.js";
import { ENCODINGS, bytes, refused, scripted, seeded, servedWith } from "./vectors.mjs";

for (const { form, device_secret: secret, questions, answers } of ENCODINGS) {
  test(`${form}: answers lie in the buckets that Python finds`, async () => {
    assert.ok(isForm(questions));
    for (const { picked, numbers, context, buckets } of answers) {
      const answer = answerNumbers({ picked, numbers });
      const own = await withStream(bytes(secret), bytes(context), (rng) =>
        bucketsOf(answer, questions, rng),
      );

      let next = 0;
      const byGroup = groupsOf(questions).map(({ buckets: count }) => {
        const first = next;
        next += count;
        return own.filter((each) => each >= first && each < next).map((each) => each - first);
      });
      assert.deepEqual(byGroup, buckets);
    }
  });
}

test("combinations are not asked", () => {
  const [{ questions }] = ENCODINGS;

  assert.deepEqual(askedQuestions(questions), questions.slice(0, 4));
});

test("answers outside a form lie in no bucket", () => {
  const [{ questions }] = ENCODINGS;
  const wrong = [
    [0, 4, 15.9, 30],
    [0, 4, 110.1, 30],
    [0, 4, NaN, 30],
    [0, 4, "44", 30],
    [0, 4, 44, -0.1],
    [0, 4, 44, 121],
    [0, 4, 44, Infinity],
    [0, 6, 44, 30],
    [-1, 4, 44, 30],
    [0.5, 4, 44, 30],
    [44],
    [],
  ];

  for (const answer of wrong) {
    assert.throws(() => bucketsOf(answer, questions, scripted()), RangeError, `${answer}`);
  }
  // Two ways at once are two buckets of a group that has one: a report has no room for them.
  const twice = bucketsOf([0, 1, 4, 44, 30], questions, seeded(1));
  const groups = groupsOf(questions).map((group) => ({ ...group, noise: 1 }));
  assert.throws(() => randomizeAnswers(twice, groups, 90, 0.5, seeded(1)), RangeError);
});

test("only a number that may be skipped is skipped, and by saying so", () => {
  const { questions } = ENCODINGS.find(({ form }) => form === "numbers that may be skipped");

  assert.deepEqual(answerNumbers({ picked: [], numbers: [null, -0] }), [NaN, 0]);
  for (const numbers of [[NaN, 1], [undefined, 1], ["", 1]]) {
    assert.throws(() => answerNumbers({ picked: [], numbers }), RangeError);
  }
  const skipped = bucketsOf([NaN, NaN], questions, seeded(1));
  const last = groupsOf(questions.slice(1, 3)).map(({ buckets }) => buckets - 1);
  let first = 4;
  const expected = groupsOf(questions.slice(1, 3)).map(({ buckets }, place) => {
    first += buckets;
    return first - buckets + last[place];
  });
  assert.deepEqual(skipped, expected);
  const [{ questions: needed }] = ENCODINGS;
  assert.throws(() => bucketsOf([0, 4, 44, NaN], needed, seeded(1)), RangeError);
  assert.throws(() => bucketsOf([NaN, 120.5], questions, seeded(1)), RangeError);
  assert.throws(() => bucketsOf([null, 1], questions, seeded(1)), RangeError);
});

test("a skip uses up as many draws as a number", () => {
  const { questions } = ENCODINGS.find(({ form }) => form === "numbers that may be skipped");
  const used = (answer) => {
    const rng = seeded(3);
    bucketsOf(answer, questions, rng);
    return rng.bits53();
  };

  assert.equal(used([NaN, NaN]), used([44, 60]));
});

test("a form whose encoding is not described in full is refused", async () => {
  const changed = (change) => {
    const questions = structuredClone(ENCODINGS[0].questions);
    change(...questions);
    return questions;
  };
  const hostile = {
    "no levels": (_, age) => Object.assign(age, { levels: [] }),
    "a width of 0": (_, age) => Object.assign(age, { levels: [[0, 2]] }),
    "parts of buckets": (_, age) => Object.assign(age, { levels: [[1, 2.5]] }),
    "one bucket": (_, age) => Object.assign(age, { levels: [[1, 1]] }),
    "levels of three": (_, age) => Object.assign(age, { levels: [[1, 2, 3]] }),
    "edges out of order": (_, age) => age.edges.reverse(),
    "an edge twice": (_, age) => age.edges.splice(1, 1, age.edges[0]),
    "edges of text": (_, age) => Object.assign(age, { edges: ["16", "17", "110"] }),
    "another range than edges": (_, age) => Object.assign(age, { high: 120 }),
    "edges and steps": (_, age) => Object.assign(age, { steps: 3 }),
    "neither edges nor steps": (_, age) => delete age.edges,
    "no unit": (_, age) => delete age.unit,
    "no range": (_, __, ___, way) => Object.assign(way, { low: 120 }),
    "an endless range": (_, __, ___, way) => Object.assign(way, { high: Infinity }),
    "a skip that is denied": (_, age) => Object.assign(age, { skippable: false }),
    "a skip in numbers": (_, age) => Object.assign(age, { skippable: 1 }),
    "an unknown member of a number": (_, age) => Object.assign(age, { optional: true }),
    "an unknown member of a choice": (way) => Object.assign(way, { optional: true }),
    "half a step": (_, __, ___, way) => Object.assign(way, { steps: 0.5 }),
    "no options": (way) => Object.assign(way, { options: [] }),
    "more answers than options": (way) => Object.assign(way, { most: 5 }),
    "a combination of nothing": (...all) => Object.assign(all[4], { groups: [] }),
    "a combination with another form's question": (...all) => all[4].groups[0][0].splice(0, 1, 9),
    "a combination with itself": (...all) => all[4].groups[0][0].splice(0, 1, 5),
    "a combination of other questions than it says": (...all) => all[4].of.reverse(),
    "a combination of one question": (...all) => Object.assign(all[4], { of: [0], groups: [[[0, 1, 4]]] }),
    "a combination of one question twice": (...all) =>
      Object.assign(all[4], { of: [0, 0], groups: [[[0, 1, 4], [0, 1, 4]]] }),
    "a combination of five": (...all) =>
      Object.assign(all[4], { of: [0, 1, 2, 3, 6], groups: [[0, 1, 2, 3, 6].map((of) => [of, 1, 2])] }),
    "a combination of a part of its questions": (...all) => all[4].groups[0].pop(),
    "an unknown member of a combination": (...all) => Object.assign(all[4], { optional: true }),
    "a combination of several options": (way) => Object.assign(way, { most: 2 }),
  };

  for (const [name, change] of Object.entries(hostile)) {
    assert.equal(isForm(changed(change)), false, name);
  }
  assert.equal(isForm(changed(() => {})), true);
  for (const other of [null, [], "form", [null], [3], [{}], [ENCODINGS[0].questions[4]]]) {
    assert.equal(isForm(other), false);
  }
  const served = servedWith("counts, numbers", ({ question }) => {
    question.terms.questions[1].levels[0][1] = 3;
  });
  await assert.rejects(readSurvey(served), refused("unknown-survey"));
});
