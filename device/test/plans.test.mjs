// A plan is followed if it keeps the rule of its task, whoever signed it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cutProbability } from "../dist/plan-rule.js";
import { readSurvey } from "../dist/survey.js";
import { MESSAGES, caseNamed, plannedWith, refused, spelled } from "./vectors.mjs";
import { canonical, parse } from "../dist/json.js";
import { toText } from "../dist/bytes.js";

const set = (members) => (_, parameters) => Object.assign(parameters, members);
const setPlan = (members) => (plan) => Object.assign(plan, members);

async function checkRefused(name, code, cases) {
  for (const [what, change] of Object.entries(cases)) {
    await assert.rejects(readSurvey(plannedWith(change, name)), refused(code), what);
  }
}

test("a plan for items that keeps the rule is followed, one of another rate too", async () => {
  await readSurvey(plannedWith(() => {}));
  await readSurvey(plannedWith((_, parameters) => parameters.rates.splice(2, 1, spelled(0.9))));
  const { plan } = await readSurvey(plannedWith(setPlan({ minimum: spelled(111) })));
  assert.equal(plan.blanket, 1.25);
});

test("every plan for items that breaks the rule is refused", async () => {
  await checkRefused("items, answers", "unsafe-plan", {
    "everything, no noise": set({ rates: ["1.0", "1.0", "1.0"].map(spelled), blanket: spelled("0.0") }),
    "one rate a little larger": (_, { rates }) => rates.splice(1, 1, spelled(0.589269)),
    "too little noise": set({ blanket: spelled(0.538) }),
    "no noise": set({ blanket: spelled("0.0") }),
    "negative noise": set({ blanket: spelled("-1.0") }),
    "a smaller report": set({ report_size: spelled(23) }),
    "fewer people": setPlan({ minimum: spelled(99) }),
    "draws that are off": (plan, parameters) =>
      Object.assign(plan, { minimum: spelled(1e9) }) &&
      Object.assign(parameters, { report_size: spelled(4000) }),
    "fewer rates": (_, { rates }) => rates.pop(),
    "other targets": (_, { targets }) => targets.splice(0, 1, spelled(0.2)),
  });
  await checkRefused("items, answers", "unknown-plan", {
    "another item": set({ items: spelled(5) }),
    "larger sets": set({ set_size: spelled(3) }),
    "an unknown parameter": set({ more: null }),
    "another mechanism": ({ protocol }) => Object.assign(protocol, { mechanism: "median" }),
    "another statistic": ({ protocol }) => Object.assign(protocol, { statistic: "median" }),
    "levels beside messages": ({ protocol }) => Object.assign(protocol, { mode: "stratified" }),
    "no rates": set({ rates: null }),
    "a whole number as rate": (_, { rates }) => rates.splice(1, 1, spelled(0)),
    "a report in parts": set({ report_size: spelled("24.0") }),
    "people in parts": setPlan({ minimum: spelled(110.5) }),
    "no counts": setPlan({ counts: null }),
    "one more member": setPlan({ more: null }),
    "no parameters": ({ protocol }) => Object.assign(protocol, { parameters: null }),
  });
});

const noise = (number) => (_, { groups }) =>
  Object.assign(groups[1].noise.poisson, { mean: spelled(number) });

test("a plan for several questions that keeps the rule is followed", async () => {
  const allowed = {
    "as it is": () => {},
    "a smaller rate": (_, { rates }) => rates.splice(0, 1, spelled(0.5)),
    "more noise": noise("140.0"),
    "noise of fewer people": set({ honest: spelled(990) }),
    "a larger report": set({ report_size: spelled(30) }),
  };

  for (const change of Object.values(allowed)) {
    assert.ok((await readSurvey(plannedWith(change, "counts, answers"))).plan);
  }
});

test("every plan for several questions that breaks the rule is refused", async () => {
  await checkRefused("counts, answers", "unsafe-plan", {
    "one rate a little larger": (_, { rates }) => rates.splice(0, 1, spelled(0.5284)),
    "too little noise in one question": noise(123.98),
    "negative noise": noise("-130.0"),
    "endless noise": noise("1e+300"),
    "noise of more people than answer": set({ honest: spelled(999) }),
    "noise of nobody": set({ honest: spelled(0) }),
    "a smaller report": set({ report_size: spelled(18) }),
    "no room for answers": set({ report_size: spelled(3) }),
    "fewer people": setPlan({ minimum: spelled(999) }),
    "fewer rates": (_, { rates }) => rates.pop(),
    "other targets": (_, { targets }) => targets.splice(0, 1, spelled(0.6)),
  });
  await checkRefused("counts, answers", "unknown-plan", {
    "answers to randomize before": set({ local_epsilon: spelled(4.5) }),
    "fewer questions": (_, { groups }) => groups.pop(),
    "more options": (_, { groups }) => Object.assign(groups[0], { buckets: spelled(5) }),
    "more answers": (_, { groups }) => Object.assign(groups[1], { most: spelled(2) }),
    "noise of another kind": (_, { groups }) =>
      Object.assign(groups[2], { noise: { geometric: { mean: spelled(200.5) } } }),
    "noise of the shuffler": (_, parameters) => {
      const noise = { shuffler: { decay: spelled(0.5), dummies: spelled(40) } };
      parameters.groups.forEach((group) => Object.assign(group, { noise }));
      Object.assign(parameters, { honest: spelled(1) });
    },
    "noise of parts of people": set({ honest: spelled(0.5) }),
    "a report of any size": set({ report_size: null }),
    "a question of nothing": (_, { groups }) => groups.splice(1, 1, null),
  });
});

const last = ({ groups }) => groups.at(-1);

test("a plan for numbers is followed if it keeps the rule, and no other", async () => {
  await readSurvey(plannedWith(() => {}, "counts, numbers"));
  await checkRefused("counts, numbers", "unsafe-plan", {
    "too little noise on a digit": (_, parameters) =>
      Object.assign(last(parameters).noise.poisson, { mean: spelled("1.0") }),
    "all is sent": (_, { rates }) => rates.fill(spelled("1.0")),
    "a smaller report": set({ report_size: spelled(20) }),
  });
  await checkRefused("counts, numbers", "unknown-plan", {
    "fewer groups": (_, { groups }) => groups.pop(),
    "another order": (_, { groups }) => groups.reverse(),
    "more buckets": (_, parameters) => Object.assign(last(parameters), { buckets: spelled(9) }),
    "more answers": (_, parameters) => Object.assign(last(parameters), { most: spelled(2) }),
  });
});

test("a plan of another signer, epoch or task is refused, and one that is missing", async () => {
  await checkRefused("items, answers", "foreign-plan", {
    "another epoch": setPlan({ epoch: spelled(4) }),
    "another task": setPlan({ task: toText(new Uint8Array(32)) }),
  });
  const other = plannedWith(() => {}, "items, answers", "shuffler_signing_key");
  await assert.rejects(readSurvey(other), refused("foreign-plan"));
  const status = parse(caseNamed("items, answers").served);
  const { signature, ...unsigned } = status.plan;
  await assert.rejects(readSurvey(canonical({ ...status, plan: unsigned })), refused("foreign-plan"));
  await assert.rejects(readSurvey(canonical({ ...status, plan: null })), refused("no-plan"));
});

test("the probability that a report is cut is bounded as in Python", () => {
  for (const { blanket, cap, honest, bound } of MESSAGES.cut_probabilities) {
    const own = cutProbability(blanket, cap, honest);

    assert.ok(own >= bound * (1 - 1e-8) && own <= bound * (1 + 1e-8) + 1e-289);
  }
});
