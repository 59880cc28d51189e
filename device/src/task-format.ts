// Reads a task (spec/task.md): members, types and ranges, before anything uses them.

import { fromText } from "./bytes.js";
import { canonical, isObject, plain } from "./json.js";
import type { Json, Spelled, SpelledObject } from "./json.js";
import { mechanismNamed } from "./mechanisms/catalog.js";
import type { Notice, Task } from "./task.js";
import { answerTexts } from "./translation.js";
import { hasMembers, isFloat, isList, isRising, isWhole } from "./value-checks.js";
import type { Value } from "./value-checks.js";

const KEYS = ["analyst_key", "analyst_signing_key", "shuffler_signing_key", "enroller_signing_key"];
const MEMBERS = [
  ...["version", "task_id", "name", "notice", "question", "protocol", "choices", "minimum"],
  ...["promise", "allowance", "delta", "absent", "suite", "succeeds", ...KEYS],
];
const MOST_CHOICES = 64;
const MOST_TRANSLATIONS = 49;
const MOST_PEOPLE = 1e9;
const LANGUAGE = /^[a-z]{2,3}(-[A-Z]{2})?$/;
// Controls, and what turns the order of letters: an address could be shown as another one.
const HIDDEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** Returns a task with plain numbers; null if it is of another form, or out of range. */
export function readTask(value: Value): Task | null {
  if (!isObject(value) || !isRead(value)) return null;
  const task = plain(value) as unknown as Task;
  const mechanism = mechanismNamed(task.protocol.mechanism);
  const form = mechanism?.formOf(task.question.terms) ?? null;
  if (!mechanism || form === null) return null;
  const { question, choices, notice } = task;
  const derived = {
    statistic: question.statistic,
    mechanism: mechanism.name,
    parameters: mechanism.parametersOf(form, question.terms, choices),
    mode: question.mode,
  };
  const isWhole =
    canonical(derived) === canonical(plain(value["protocol"]!)) &&
    (mechanism.planned !== null) === (task.plan_rule !== undefined) &&
    (mechanism.planned === null || question.mode === "agnostic") &&
    answerTexts(question.terms).every((text) => isText(text, 500)) &&
    isTranslated(notice, answerTexts(question.terms).length);
  return isWhole ? task : null;
}

/** Tells whether everything but terms and protocol is of its type, and in its range. */
function isRead(task: SpelledObject): boolean {
  const { question, notice, protocol, plan_rule: rule, succeeds } = task;
  const keys = KEYS.map((name) => fromText(task[name], 32));
  return (
    hasMembers(task, ...MEMBERS, ...(rule === undefined ? [] : ["plan_rule"])) &&
    isWhole(task["version"], 4, 4) &&
    fromText(task["task_id"], 16) !== null &&
    isText(task["name"], 100) &&
    isNotice(notice) &&
    hasMembers(question, "statistic", "text", "mode", "terms") &&
    typeof question["statistic"] === "string" &&
    isText(question["text"], 500) &&
    (question["mode"] === "agnostic" || question["mode"] === "stratified") &&
    isObject(question["terms"]) &&
    hasMembers(protocol, "statistic", "mechanism", "parameters", "mode") &&
    typeof protocol["mechanism"] === "string" &&
    isObject(protocol["parameters"]) &&
    areNumbers(task) &&
    (succeeds === null || fromText(succeeds, 32) !== null) &&
    keys.every((key) => key !== null) &&
    new Set(KEYS.map((name) => task[name])).size === KEYS.length &&
    (rule === undefined || isRule(rule, (task["choices"] as Spelled[]).length))
  );
}

function areNumbers(task: SpelledObject): boolean {
  const { choices, minimum, promise, allowance, delta, absent } = task;
  const isPositive = (value: Value) => isFloat(value, Number.MIN_VALUE);
  return (
    isRising(choices, 700) &&
    choices.length <= MOST_CHOICES &&
    isList(minimum, (value) => isWhole(value, 1, MOST_PEOPLE)) &&
    isList(promise, isPositive) &&
    isList(allowance, isPositive) &&
    [minimum, promise, allowance].every(({ length }) => length === choices.length) &&
    isFloat(delta, Number.MIN_VALUE) &&
    Number(delta.letters) < 1 &&
    isWhole(absent, 0, MOST_PEOPLE)
  );
}

function isRule(rule: Value, targets: number): boolean {
  if (!hasMembers(rule, "noise", "rates", "cut", "coin_error")) return false;
  const { noise, rates, cut, coin_error: error } = rule;
  const isRate = (value: Value) => isFloat(value, 0, 1);
  const isRow = (row: Value): row is Json<Spelled>[] => isList(row, isRate) && row.length === targets;
  const isPart = (value: Value) => isFloat(value, Number.MIN_VALUE) && Number(value.letters) < 1;
  return (
    isRising(noise) &&
    isList(rates, isRow) &&
    rates.length === noise.length &&
    [cut, error].every(isPart)
  );
}

function isNotice(notice: Value): boolean {
  if (!hasMembers(notice, "asker", "contact", "consent", "language", "translations")) return false;
  const { asker, contact, consent, language, translations } = notice;
  if (!isObject(translations)) return false;
  const languages = [language, ...Object.keys(translations)];
  return (
    [asker, contact].every((text) => isShown(text, 200)) &&
    isShown(consent, 2000) &&
    languages.length <= MOST_TRANSLATIONS + 1 &&
    new Set(languages).size === languages.length &&
    languages.every((name) => typeof name === "string" && LANGUAGE.test(name)) &&
    Object.values(translations).every(isTranslation)
  );
}

function isTranslation(value: Value): boolean {
  if (!hasMembers(value, "name", "question", "answers", "consent")) return false;
  const { name, question, answers, consent } = value;
  return (
    isShown(name, 100) &&
    isShown(question, 500) &&
    Array.isArray(answers) &&
    answers.every((text) => isShown(text, 500)) &&
    isShown(consent, 2000)
  );
}

/** Tells whether there are as many translated answers as answers, in every language. */
function isTranslated({ translations }: Notice, count: number): boolean {
  return Object.values(translations).every(({ answers }) => answers.length === count);
}

/** Tells whether a text has something to show, and up to `most` code points. */
function isText(text: unknown, most: number): text is string {
  return typeof text === "string" && text.trim() !== "" && [...text].length <= most;
}

/** Tells whether a text of a notice is such a text, and is shown as it is written. */
function isShown(text: unknown, most: number): boolean {
  return isText(text, most) && !HIDDEN.test(text);
}
