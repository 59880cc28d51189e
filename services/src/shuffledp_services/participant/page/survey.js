// What the shuffler says about a survey, and what it answers to a message.

import { formOf, mechanismOf } from "./mechanisms/catalog.js";
import { refusalOf } from "./plan.js";
import { canVerify, isSigned } from "./signing.js";
import { answerTexts, t } from "./texts.js";
import * as wire from "./wire.js";

const IDENTITY = ["statistic", "mechanism", "parameters", "mode"];
const REQUEST = {
  cache: "no-store",
  credentials: "omit",
  redirect: "error",
  referrerPolicy: "no-referrer",
};

/** Something went wrong in a way that is told to people; `retry` if trying again helps. */
export class Trouble extends Error {
  constructor(text, { retry = false, problem = null } = {}) {
    super(text);
    this.retry = retry;
    this.problem = problem;
  }
}

/** Tells whether people choose central targets, which a plan keeps, instead of levels. */
export function isCentral({ task }) {
  return mechanismOf(task).planned === true;
}

/** Tells whether a protocol is one that this page runs for a question. */
function isKnown(task) {
  const { statistic, terms } = task.question ?? {};
  const mechanism = mechanismOf(task);
  return (
    mechanism !== undefined &&
    task.protocol.statistic === statistic &&
    mechanism.formOf(terms ?? {}) !== null &&
    mechanism.agrees(task.protocol, terms) &&
    (mechanism.planned === true) === (task.plan_rule !== undefined)
  );
}

/** Tells whether a plan is one for what is asked. */
function isPlanFor({ protocol }, task) {
  return (
    protocol?.statistic === task.protocol.statistic &&
    protocol.mechanism === task.protocol.mechanism &&
    mechanismOf(task).fits(protocol, formOf(task))
  );
}

/** Tells whether there are as many translated answers as answers, in every language. */
function isTranslated({ notice, question }) {
  const count = answerTexts(question.terms).length;
  const all = Object.values(notice.translations);
  return all.every(({ answers }) => answers.length === count);
}

/** Asks the shuffler for a survey. */
export async function load(url) {
  const response = await request(url, {});
  const text = await response.text();
  if (!response.ok) throw new Trouble("", { problem: readProblem(text) });
  return read(text);
}

/**
 * Reads the shuffler's description of a survey.
 *
 * @returns A survey: `task` with plain numbers, `step` as messages are bound to it, and
 *   `plan`, the parameters of what then runs (null where nothing is planned); `phase` and
 *   `begun` say whether messages are taken.
 */
export async function read(text) {
  const raw = wire.parse(text);
  const { task, plan, epoch, stage, phase, enrolment } = wire.plain(raw);
  const taskId = wire.fromText(task?.task_id, 16);
  const analystKey = wire.fromText(task?.analyst_key, 32);
  const known = task?.version === 4 && isKnown(task);
  if (!known || !isTranslated(task) || !taskId) {
    throw new Trouble(t("unknown-survey"));
  }
  if (task.suite !== "x25519" || !analystKey) {
    throw new Trouble(t("unknown-suite"));
  }
  const planned = stage === "answer" && isCentral({ task });
  if (planned && plan === null) {
    throw new Trouble(t("no-plan"));
  }
  if (planned && !isPlanFor(plan, task)) {
    throw new Trouble(t("unknown-plan"));
  }
  // A user who reports a target, but cannot verify the plan, would count and never answer.
  if (isCentral({ task }) && !(await canVerify())) throw new Trouble(t("no-signatures"));
  const taskDigest = await digest(raw.task);
  const refusal = planned ? await refusalOf(raw.plan, task, taskDigest, epoch) : null;
  if (refusal !== null) throw new Trouble(t(refusal));
  const published = planned
    ? Object.fromEntries(IDENTITY.map((name) => [name, raw.plan.protocol[name]]))
    : null;
  return {
    task,
    taskId,
    analystKey,
    phase,
    // Without an enrolment, the shuffler accepts no message.
    begun: (enrolment ?? null) !== null,
    plan: planned ? plan.protocol.parameters : null,
    fingerprint: wire.hex(taskDigest),
    step: {
      taskDigest,
      planDigest: published ? await digest(published) : new Uint8Array(32),
      epoch,
      stage: wire.Stage[stage],
    },
  };
}

/**
 * Uploads a report of `count` messages.
 *
 * @returns {Promise<{checked: boolean, receipt: object}>} Whether the receipt's signature
 *   was checked (a browser may not know how to), and the receipt.
 */
export async function send(url, survey, body, count) {
  const response = await request(url, {
    method: "POST",
    headers: { "Content-Type": wire.MEDIA_TYPE },
    body,
  });
  const text = await response.text();
  if (!response.ok) {
    const problem = readProblem(text);
    throw new Trouble("", { problem, retry: response.status >= 500 });
  }
  const checked = await checkReceipt(text, survey, body, count);
  return { checked, receipt: wire.parse(text) };
}

/** Returns what is worth keeping of a receipt: JSON that `shuffledp device check` reads. */
export async function keptReceipt(receipt, survey, body, count) {
  const messages = (await wire.hashesIn(body, count)).map(wire.toText);
  return `${wire.canonical({ task: survey.fingerprint, messages, receipt })}\n`;
}

/** Checks a receipt; throws Trouble unless the shuffler signed it for this message. */
export async function checkReceipt(text, survey, body, count) {
  const wrong = new Trouble(t("wrong-receipt"));
  let raw;
  try {
    raw = wire.parse(text);
  } catch {
    throw wrong;
  }
  const value = wire.plain(raw);
  const hashes = await wire.hashesIn(body, count);
  const fits =
    value.task === wire.toText(survey.step.taskDigest) &&
    value.messages === wire.toText(await wire.sha256(wire.concat(...hashes))) &&
    value.epoch === survey.step.epoch &&
    value.stage === survey.step.stage &&
    (value.plan ?? null) === (survey.plan && wire.hex(survey.step.planDigest)) &&
    value.accepted === 1;
  const key = wire.fromText(survey.task.shuffler_signing_key, 32);
  const signed = await isSigned("receipt", raw, key);
  if (!fits || signed === false) throw wrong;
  return signed === true;
}

async function request(url, options) {
  try {
    return await fetch(url, { ...REQUEST, ...options });
  } catch {
    throw new Trouble(t("unreachable"), { retry: true });
  }
}

function digest(raw) {
  return wire.sha256(wire.utf8(wire.canonical(raw)));
}

function readProblem(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
