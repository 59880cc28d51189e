// What the shuffler says about a survey, and what it answers to a message.

import * as wire from "./wire.js";

const STATISTICS = ["frequency", "mean", "sum", "items"];
const PLAN = ["rates", "blanket", "report_size"];
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
 *   `plan` (null before there is one).
 */
export async function read(text) {
  const raw = wire.parse(text);
  const { task, plan, epoch, stage, phase } = wire.plain(raw);
  const taskId = wire.fromText(task?.task_id, 16);
  const analystKey = wire.fromText(task?.analyst_key, 32);
  if (task?.version !== 1 || !STATISTICS.includes(task.question?.statistic) || !taskId) {
    throw new Trouble("This page does not know this kind of survey.");
  }
  if (task.suite !== "x25519" || !analystKey) {
    throw new Trouble(
      "This survey seals its messages in a way (X-Wing) that this page does not support. " +
        "You can take part with the shuffledp program instead.",
    );
  }
  const planned = stage === "answer" && plan !== null;
  if (task.question.statistic === "items" && stage === "answer" && !planned) {
    throw new Trouble("This survey's plan is not published yet. Come back later.");
  }
  const published = planned
    ? Object.fromEntries(PLAN.map((name) => [name, raw.plan[name]]))
    : null;
  return {
    task,
    taskId,
    analystKey,
    phase,
    plan: planned ? plan : null,
    step: {
      taskDigest: await digest(raw.task),
      planDigest: published ? await digest(published) : new Uint8Array(32),
      epoch,
      stage: wire.Stage[stage],
    },
  };
}

/**
 * Uploads a message.
 *
 * @returns {Promise<boolean>} Whether the receipt's signature was checked; a browser may
 *   not know how to.
 */
export async function send(url, survey, body) {
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
  return checkReceipt(text, survey, body);
}

/** Checks a receipt; throws Trouble unless the shuffler signed it for this message. */
export async function checkReceipt(text, survey, body) {
  const wrong = new Trouble(
    "The server's receipt is not what the survey promises: your message may not count.",
  );
  let raw;
  try {
    raw = wire.parse(text);
  } catch {
    throw wrong;
  }
  const { signature, ...rest } = raw;
  const value = wire.plain(rest);
  const fits =
    value.task === wire.toText(survey.step.taskDigest) &&
    value.upload === wire.toText(await wire.sha256(body)) &&
    value.epoch === survey.step.epoch &&
    value.stage === survey.step.stage &&
    value.accepted === 1;
  const signed = wire.fromText(signature, 64);
  const key = wire.fromText(survey.task.shuffler_signing_key, 32);
  if (!fits || !signed || !key) throw wrong;
  const said = wire.utf8(`shuffledp receipt 1\0${wire.canonical(rest)}`);
  let known;
  try {
    known = await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
  } catch {
    return false; // This browser has no Ed25519.
  }
  if (!(await crypto.subtle.verify("Ed25519", known, signed, said))) throw wrong;
  return true;
}

async function request(url, options) {
  try {
    return await fetch(url, { ...REQUEST, ...options });
  } catch {
    throw new Trouble("The survey's server could not be reached.", { retry: true });
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
