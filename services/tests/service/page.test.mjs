// The scripts of the participant's page: what it says. Its device has tests of its own (device/).
//
//     node --test services/tests/service/page.test.mjs

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";

import { aboutReport, describe, leadText } from "../../src/shuffledp_services/participant/page/meaning.js";
import {
  DeviceError,
  ERROR_CODES,
  meaningKind,
  readSurvey,
} from "../../src/shuffledp_services/participant/page/node_modules/shuffledp-device/dist/index.js";
import { CATALOGS, inLanguage, offered, preferred, speak } from "../../src/shuffledp_services/participant/page/texts.js";
import { Trouble, whatWentWrong } from "../../src/shuffledp_services/participant/page/trouble.js";
import { asText, refusalText, sureness } from "../../src/shuffledp_services/participant/page/words.js";

const FOLDER = new URL("../../src/shuffledp_services/participant/page/", import.meta.url);
const FILE = new URL("../../../spec/vectors/messages.json", import.meta.url);
const VECTORS = JSON.parse(await readFile(FILE, "utf8"));

/** Returns the report of a case, as the page shows it. */
async function reportOf({ served, choice_position: level, numbers: messages }) {
  return { survey: await readSurvey(served), level, messages };
}

test("each question's message is said in words", async () => {
  const lines = new Map();
  for (const entry of VECTORS.cases) lines.set(entry.name, describe(await reportOf(entry)));

  assert.deepEqual(lines.get("frequency, agnostic"), ["c"]);
  assert.deepEqual(lines.get("frequency, subset-selection"), ["c0", "c7", "c10"]);
  // Of rows 1 to 11, those that have an even number of ones in common with 1101.
  const even = ["c1", "c4", "c6", "c8", "c10"];
  assert.deepEqual(lines.get("frequency, hadamard-response"), even);
  assert.deepEqual(lines.get("sum"), ["No"]);
  assert.match(lines.get("mean")[0], /the high end$/);
  // 8 of 11 steps from -40 to 10.5.
  assert.match(lines.get("mean, grid-response")[0], /^-3\.27/);
  assert.deepEqual(lines.get("items, targets"), ["At most 100% sure"]);
  assert.deepEqual(lines.get("items, answers"), ["b", "d", "22 empty parts"]);
  assert.deepEqual(lines.get("counts, answers"), [
    "Which letters? b, 2 times",
    "Rauchen Sie? nein",
    "Tanzen Sie? nein",
    "16 empty parts",
  ]);
  assert.deepEqual(lines.get("counts, numbers").slice(0, 3), [
    "How do you get to work? car",
    "How old are you? counter 2.1",
    "How old are you? counter 3.3",
  ]);
});

test("what a message says of the answer is said by its kind, before and after", async () => {
  const { en } = CATALOGS;
  const begins = (text, name) => assert.ok(text.startsWith(en[name].split("{")[0]), `${name}: ${text}`);
  const expected = {
    "one option": ["lead-one", "about-one"],
    "several options": ["lead-several", "about-several"],
    "grid number": ["lead-grid", "about-grid", "about-one"],
    "end of range": ["lead-mean", "about-end", "about-one"],
    "yes or no": ["lead-one", "about-one"],
    "counted options": ["lead-items", "about-items"],
    "counted cells": ["lead-items", "about-items"],
  };
  const kinds = new Set();

  for (const entry of VECTORS.cases) {
    const report = await reportOf(entry);
    const kind = meaningKind(report.survey.task);
    const [lead, ...about] = report.survey.isChoosing ? ["lead-choice", "about-choice"] : expected[kind];
    if (entry.name === "counts, numbers") about.unshift("about-counters");
    begins(leadText(report.survey), lead);
    const texts = aboutReport(report);
    assert.equal(texts.length, about.length);
    about.forEach((name, place) => begins(texts[place], name));
    kinds.add(kind);
  }
  assert.deepEqual([...kinds].sort(), Object.keys(expected).sort());
});

test("long lists of categories are cut, and empty ones said", () => {
  const survey = (categories) => ({
    isChoosing: false,
    task: {
      protocol: { mechanism: "hadamard-response" },
      question: { terms: { categories, mechanism: "hadamard-response" } },
    },
  });
  const many = Array.from({ length: 40 }, (_, place) => `c${place}`);

  const lines = describe({ survey: survey(many), level: 0, messages: [0] });

  assert.equal(lines.length, 13);
  assert.match(lines.at(-1), /28/);
  const none = describe({ survey: survey(["a", "b"]), level: 0, messages: [3] });
  assert.deepEqual(none, [CATALOGS.en["no-answers"]]);
});

test("the page follows what a task states, and names no encoding", async () => {
  const words = /\b(tree|intervals?|quantiles?|histogram|distribution|fan|binary|group-mean)\b/i;
  const scripts = (await sourceFiles()).filter((name) => !name.startsWith("texts-"));

  const lines = [];
  for (const name of scripts) {
    const code = await readFile(new URL(name, FOLDER), "utf8");
    lines.push(...code.split("\n").map((line) => [name, line]));
  }

  assert.deepEqual(lines.filter(([, line]) => words.test(line)), []);
});

test("small numbers are written in full, as the language writes them", () => {
  const numbers = [1e-8, 0.07599421, 1500.5, -10];

  assert.deepEqual(numbers.map(asText), ["0.00000001", "0.07599421", "1,500.5", "-10"]);
  speak("de");
  assert.deepEqual(numbers.map(asText), ["0,00000001", "0,07599421", "1.500,5", "-10"]);
  assert.equal(sureness(1), "74\u00a0%");
  speak("en");
});

test("certainty is rounded up, to digits that say something", () => {
  const said = [1e-9, 0.5, 1, 2, 5, 10, 14, 700].map(sureness);

  const expected = ["51%", "63%", "74%", "89%", "99.4%", "99.996%", "100%", "100%"];
  assert.deepEqual(said, expected);
});

test("refusals are said to people", () => {
  const of = (reason) => refusalText({ type: `urn:shuffledp:problem:${reason}` });

  assert.match(of("token-spent"), /used before/);
  assert.match(of("not-open"), /closed/);
  assert.match(refusalText({ title: "Odd" }), /did not take the message. \(Odd\.\)/);
  assert.match(refusalText({}), /did not take the message/);
});

test("every catalog says the same things, with the same numbers in them", async () => {
  const holes = (text) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  const [first, ...others] = Object.values(CATALOGS);

  assert.ok(others.length);
  for (const other of others) {
    assert.deepEqual(Object.keys(other), Object.keys(first));
    for (const name of Object.keys(first)) {
      assert.ok(other[name].trim());
      assert.deepEqual(holes(other[name]), holes(first[name]), name);
    }
  }
});

test("every reason of the device is said to people", () => {
  const title = "Odd";
  for (const code of ERROR_CODES.filter((each) => each !== "refused")) {
    assert.equal(whatWentWrong(new DeviceError(code)), CATALOGS.en[code], code);
  }
  assert.match(whatWentWrong(new DeviceError("refused", { problem: { title } })), /Odd/);
  assert.equal(whatWentWrong(new Trouble("Mine.")), "Mine.");
  assert.equal(whatWentWrong(new Error("theirs")), CATALOGS.en.unexpected);
});

/** The page's own scripts, by their paths below its folder. */
async function sourceFiles() {
  return (await readdir(FOLDER)).filter((name) => name.endsWith(".js"));
}

test("no script names a mechanism or a statistic", async () => {
  const names = ["kary-response", "subset-selection", "hadamard-response", "one-bit", "grid-response", "poisson-items", "noisy-counts"];
  const statistics = ["frequency", "mean", "sum", "items", "strings"];
  for (const name of await sourceFiles()) {
    const code = await readFile(new URL(name, FOLDER), "utf8");
    const texts = [...code.matchAll(/(["'`])((?:(?!\1).)*)\1/g)].map(([, , text]) => text);

    const named = texts.filter((text) => [...names, ...statistics].includes(text));
    assert.deepEqual(named, [], name);
  }
});

test("every text is used, and every text that is used is there", async () => {
  const files = await sourceFiles();
  const sources = files.filter((name) => !name.startsWith("texts-"));
  const read = sources.map((name) => readFile(new URL(name, FOLDER), "utf8"));
  const code = (await Promise.all(read)).join("\n");
  const names = Object.keys(CATALOGS.en);

  const asked = [...code.matchAll(/\bt\(\s*"([^"]+)"/g)].map(([, name]) => name);
  assert.ok(asked.length > 50);
  assert.deepEqual(asked.filter((name) => !names.includes(name)), []);
  const isUsed = (name) => code.includes(`"${name}"`) || ERROR_CODES.includes(name);
  assert.deepEqual(names.filter((name) => !isUsed(name)), []);
});

test("a language is chosen by what people read, then by what there is", async () => {
  const other = { name: "n", question: "q", answers: [], consent: "c" };
  const notice = { language: "fr", translations: { "pt-BR": other } };
  const task = { notice };

  assert.deepEqual(offered(task), ["de", "en", "fr", "pt-BR"]);
  assert.equal(preferred(task, ["fr-CA", "en"]), "fr");
  assert.equal(preferred(task, ["pt"]), "pt-BR");
  assert.equal(preferred(task, ["de-AT", "fr"]), "de");
  assert.equal(preferred(task, ["xx"]), "fr");
});

test("a translation changes what is read, and no byte of what is sent", async () => {
  const entry = VECTORS.cases.find(({ served }) => served.includes('"categories"'));
  const survey = await readSurvey(entry.served);
  const { categories } = survey.task.question.terms;
  const answers = categories.map((name) => `${name}!`);
  survey.task.notice.translations.de = { name: "N", question: "F?", answers, consent: "E" };
  const shown = inLanguage(survey, "de");

  assert.deepEqual(shown.task.question.terms.categories, answers);
  assert.deepEqual([shown.textLanguage, inLanguage(survey, "fr").textLanguage], ["de", "en"]);
  assert.equal(shown.step, survey.step);
  assert.equal(inLanguage(survey, "fr").task.question.text, survey.task.question.text);
});
