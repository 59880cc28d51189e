// Surveys that a device answers: what is certified is what would run.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";

import { formOf } from "../dist/mechanisms/catalog.js";
import { draw } from "../dist/message.js";
import { readSurvey, refusalOf } from "../dist/survey.js";
import { answerTexts, translated } from "../dist/translation.js";
import { caseNamed, refused, seeded, servedWith } from "./vectors.mjs";

const unknown = refused("unknown-survey");

test("a survey that certifies something else than it asks for is refused", async () => {
  const { served } = caseNamed("frequency, subset-selection");
  const named = /"mechanism":"subset-selection"/g;

  assert.equal(served.match(named).length, 2);
  await readSurvey(served);
  await assert.rejects(readSurvey(served.replace(named, '"mechanism":"local-hashing"')), unknown);
  for (const part of ['"subset_size":3', '"mechanism":"subset-selection"', '"c10"']) {
    const other = { '"c10"': '"c10","c11"' }[part] ?? part.replace(/3|subset-s.*n/, "1");
    await assert.rejects(readSurvey(served.replace(part, other)), unknown);
  }
});

test("a survey whose shuffler adds the noise is refused", async () => {
  // This device would draw noise that nobody subtracts, and leave out what says "no answer".
  const file = new URL("../../spec/vectors/dummies.json", import.meta.url);
  const { task } = JSON.parse(await readFile(file, "utf8"));

  for (const stage of ["choice", "answer"]) {
    const status = `{"task":${task},"epoch":7,"stage":"${stage}","phase":"open","plan":null}`;
    await assert.rejects(readSurvey(status), unknown);
  }
});

test("a number of the grid is certified as it is asked for", async () => {
  const { served } = caseNamed("mean, grid-response");
  const certified = served.lastIndexOf('"values":12');

  await readSurvey(served);
  assert.ok(served.indexOf('"values":12') < certified);
  const other = `${served.slice(0, certified)}"values":13${served.slice(certified + 11)}`;
  await assert.rejects(readSurvey(other), unknown);
  const named = /"mechanism":"grid-response"/;
  await assert.rejects(readSurvey(served.replace(named, '"mechanism":"one-bit"')), unknown);
  await assert.rejects(readSurvey(served.replace('"values":12', '"values":12.5')), unknown);
  const bit = caseNamed("mean").served;
  await assert.rejects(readSurvey(bit.replace('"low":-40.0}', '"low":-40.0,"values":2}')), unknown);
});

/** Returns a case's status with both places of a number changed. */
const everywhere = (name, from, to) => caseNamed(name).served.replaceAll(from, to);

test("terms that no mechanism runs are refused, even where the certificate agrees", async () => {
  const wrong = {
    "no values": everywhere("mean, grid-response", '"values":12', '"values":1'),
    "a range that falls": everywhere("mean", '"high":1e+21', '"high":-41.0'),
    "no items": everywhere("items, targets", '"set_size":2', '"set_size":0'),
    "more items than there are": everywhere("items, targets", '"set_size":2', '"set_size":5'),
    "a category twice": everywhere("frequency, agnostic", '["a","b","c"]', '["a","b","a"]'),
    "another alphabet": everywhere("frequency, agnostic", '["a","b","c"]', '["a","b",3]'),
    "levels beside items": everywhere("items, targets", '"mode":"agnostic"', '"mode":"stratified"'),
    "a mode of its own": everywhere("sum", '"mode":"agnostic"', '"mode":"open"'),
  };

  for (const [what, text] of Object.entries(wrong)) {
    await assert.rejects(readSurvey(text), unknown, what);
  }
});

test("another suite, version or member is refused", async () => {
  const { served } = caseNamed("items, answers");

  await assert.rejects(readSurvey(served.replace('"x25519"', '"x-wing"')), refused("unknown-suite"));
  await assert.rejects(readSurvey(served.replace(/"version":\d+/, '"version":99')), unknown);
  await assert.rejects(readSurvey(served.replace(/"version":\d+/, '"version":4,"color":1')), unknown);
  for (const name of ['"items"', '"poisson-items"']) {
    await assert.rejects(readSurvey(served.replace(name, '"median"')), unknown);
  }
});

test("notices that hide or miss something are refused", async () => {
  const translation = { name: "N", question: "F?", answers: ["x", "y", "z"], consent: "E" };
  const served = (change) => {
    const { served: text } = caseNamed("frequency, agnostic");
    const notice = { ...JSON.parse(text).task.notice, ...change };
    return text.replace(/"notice":\{.*?\},(?="succeeds")/, `"notice":${JSON.stringify(notice)},`);
  };

  await readSurvey(served({}));
  await readSurvey(served({ translations: { de: translation } }));
  for (const change of [
    { asker: "" },
    { asker: "\u202eten.elpmaxe" },
    { contact: "a\nb" },
    { consent: "x".repeat(2001) },
    { language: "English" },
    { more: "" },
    { translations: [] },
    { translations: { de: { ...translation, answers: [] } } },
    { translations: { de: { ...translation, answers: ["x", "y", " "] } } },
    { translations: { de: { ...translation, more: 1 } } },
    { translations: { en: translation } },
    { translations: { DE: translation } },
  ]) {
    await assert.rejects(readSurvey(served(change)), unknown, JSON.stringify(change));
  }
});

/** Returns a changed task whose numbers keep their spelling. */
function respelled(name, from, to) {
  const { served } = caseNamed(name);
  assert.ok(served.includes(from), from);
  return served.replace(from, to);
}

test("a statistic that was never heard of is taken with a mechanism that is known", async () => {
  const text = caseNamed("sum").served.replaceAll('"statistic":"sum"', '"statistic":"smokers"');

  const survey = await readSurvey(text);

  assert.deepEqual(formOf(survey.task), { kind: "yes or no", low: 0, high: 1 });
  assert.equal(draw(survey, 2, [1], seeded(1)).length, 1);
  const mixed = respelled("sum", '"statistic":"sum"', '"statistic":"smokers"');
  await assert.rejects(readSurvey(mixed), unknown);
});

test("a mechanism that follows a plan is refused without a rule, and a rule without it", async () => {
  const rule = /,"plan_rule":\{.*?\}/;
  const { served } = caseNamed("items, targets");
  const [ruled] = rule.exec(served);

  await assert.rejects(readSurvey(served.replace(rule, "")), unknown);
  await assert.rejects(readSurvey(respelled("sum", ',"suite"', `${ruled},"suite"`)), unknown);
  await readSurvey(served);
  for (const [from, to] of [
    [/"cut":[^,}]+/, '"cut":1.5'],
    [/"noise":\[/, '"noise":[9e+300,'],
    [/"rates":\[\[[^,]+/, '"rates":[[1.5'],
    [/"coin_error":/, '"more":1,"coin_error":'],
  ]) {
    assert.match(served, from);
    await assert.rejects(readSurvey(served.replace(from, to)), unknown, String(from));
  }
});

test("a link is for one epoch of one survey, which is open", async () => {
  const { step, fingerprint, ...rest } = await readSurvey(caseNamed("frequency, agnostic").served);
  const survey = { ...rest, step, fingerprint, isOpen: true, hasBegun: true };
  const link = { token: new Uint8Array(32), secret: new Uint8Array(32), epoch: step.epoch, task: fingerprint };

  assert.equal(refusalOf(survey, link), null);
  assert.equal(refusalOf(survey, null), null);
  assert.equal(refusalOf(survey, { ...link, epoch: 77 }), "other-epoch");
  assert.equal(refusalOf(survey, { ...link, task: "0".repeat(64) }), "other-survey");
  assert.equal(refusalOf({ ...survey, isOpen: false }, link), "not-open");
  assert.equal(refusalOf({ ...survey, hasBegun: false }, null), "not-begun");
});

test("a translation changes what is read, and no byte of what is sent", async () => {
  const survey = await readSurvey(caseNamed("counts, numbers").served);
  const { task } = survey;
  const answers = answerTexts(task.question.terms).map((text) => `${text}!`);
  const translation = { name: "N", question: "F?", consent: "E", answers };
  const shown = translated(
    { ...task, notice: { ...task.notice, translations: { de: translation } } },
    "de",
  );

  const [way, age] = shown.question.terms.questions;
  assert.deepEqual([shown.name, shown.question.text, shown.notice.consent], ["N", "F?", "E"]);
  assert.deepEqual([way.options[3], age.text, age.unit], ["walk!", "How old are you?!", "years!"]);
  assert.equal(translated(task, "fr"), task);
  assert.equal(translated(task, "constructor"), task);
  const other = { ...survey, task: shown };
  assert.deepEqual(draw(other, 0, [2, 44, 35], seeded(1)), draw(survey, 0, [2, 44, 35], seeded(1)));
});

test("only a mechanism's own file names it", async () => {
  const folder = new URL("../src/", import.meta.url);
  const all = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".ts"));
  const names = ["kary-response", "subset-selection", "hadamard-response", "one-bit", "grid-response", "poisson-items", "noisy-counts"];

  assert.ok(all.length > 20);
  for (const name of all) {
    const code = await readFile(new URL(name, folder), "utf8");
    const named = names.filter((each) => code.includes(`"${each}"`));
    const own = names.filter((each) => name === `mechanisms/${each}.ts`);
    assert.deepEqual(named, own, name);
  }
});
