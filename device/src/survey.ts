// What a shuffler says about a survey (spec/report.md, Exchange).

import { fromText, hex, sha256, toText, utf8 } from "./bytes.js";
import type { Bytes } from "./bytes.js";
import { DeviceError } from "./device-error.js";
import type { ErrorCode } from "./device-error.js";
import { canonical, isObject, parse, plain } from "./json.js";
import type { Json, Spelled, SpelledObject } from "./json.js";
import type { Link } from "./link.js";
import { formOf, mechanismOf } from "./mechanisms/catalog.js";
import { Stage } from "./message-bytes.js";
import type { Step } from "./message-bytes.js";
import { isCount } from "./plan-rule.js";
import { canSealFor } from "./sealing.js";
import { request } from "./request.js";
import { canVerify, isSigned } from "./signing.js";
import type { Plan, Protocol, Task } from "./task.js";
import { readTask } from "./task-format.js";
import { hasMembers, isList, isWhole } from "./value-checks.js";

const IDENTITY = ["statistic", "mechanism", "parameters", "mode"];
const PLAN_MEMBERS = ["counts", "epoch", "minimum", "protocol", "signature", "task"];

/** A survey in one step of an epoch, all of it verified. */
export interface Survey {
  /** Where its status is: reports go to `reports` below it. */
  url: string;
  task: Task;
  taskId: Bytes;
  analystKey: Bytes;
  /** The task's digest for people. */
  fingerprint: string;
  /** What messages are bound to. */
  step: Step;
  /** Parameters of what runs by a plan; null where nothing is planned. */
  plan: Protocol["parameters"] | null;
  /** Whether people choose a target in this step, and answer in the next one. */
  isChoosing: boolean;
  isOpen: boolean;
  /** Whether there is an enrolment: without one, the shuffler accepts no message. */
  hasBegun: boolean;
}

/** Tells whether people choose central targets, which a plan keeps, instead of levels. */
export function hasTargets({ task }: { task: Task }): boolean {
  return mechanismOf(task).planned !== null;
}

/** Asks a shuffler for a survey; `url` is that of its task. */
export async function loadSurvey(url: string): Promise<Survey> {
  return readSurvey(await request(url), url);
}

/**
 * Reads a shuffler's description of a survey.
 *
 * @throws DeviceError if this device cannot answer it, or must not.
 */
export async function readSurvey(text: string, url = ""): Promise<Survey> {
  const status = readStatus(text);
  const { epoch, stage } = status;
  const suite = isObject(status["task"]) ? status["task"]["suite"] : undefined;
  if (suite !== undefined && suite !== "x25519") throw new DeviceError("unknown-suite");
  const task = readTask(status["task"]);
  const isStep = isWhole(epoch, 1, 2 ** 32 - 1) && (stage === "answer" || stage === "choice");
  if (task === null || !isStep) throw new DeviceError("unknown-survey");
  const planned = mechanismOf(task).planned !== null;
  if (stage === "choice" && !planned) throw new DeviceError("unknown-survey");
  // A person who reports a target, but cannot verify the plan, would count and never answer.
  if (planned && !(await canVerify())) throw new DeviceError("no-signatures");
  const taskDigest = await digest(status["task"]!);
  const number = Number(epoch.letters);
  const plan =
    planned && stage === "answer" ? await readPlan(status["plan"], task, taskDigest, number) : null;
  return {
    url,
    task,
    taskId: fromText(task.task_id, 16)!,
    analystKey: fromText(task.analyst_key, 32)!,
    fingerprint: hex(taskDigest),
    step: {
      taskDigest,
      planDigest: plan?.digest ?? new Uint8Array(32),
      epoch: number,
      stage: Stage[stage],
    },
    plan: plan?.parameters ?? null,
    isChoosing: stage === "choice",
    isOpen: status["phase"] === "open",
    hasBegun: (status["enrolment"] ?? null) !== null,
  };
}

/** Returns why a person cannot take part now; null if they can. */
export function refusalOf(survey: Survey, link: Link | null): ErrorCode | null {
  if (link !== null && link.task !== survey.fingerprint) return "other-survey";
  if (!survey.isOpen) return "not-open";
  if (!survey.hasBegun) return "not-begun";
  return link === null || link.epoch === survey.step.epoch ? null : "other-epoch";
}

/** Tells whether this environment can seal messages for a survey's analyst, by doing it. */
export function canSeal({ analystKey }: Survey): Promise<boolean> {
  return canSealFor(analystKey);
}

function readStatus(text: string): SpelledObject {
  try {
    return parse(text);
  } catch {
    throw new DeviceError("unknown-survey");
  }
}

/** Verifies the plan of answers: signed, for this epoch of this task, and within its rule. */
async function readPlan(
  value: Json<Spelled> | undefined,
  task: Task,
  taskDigest: Bytes,
  epoch: number,
): Promise<{ parameters: Protocol["parameters"]; digest: Bytes }> {
  if (!isObject(value)) throw new DeviceError("no-plan");
  const key = fromText(task.analyst_signing_key, 32);
  if ((await isSigned("plan", value, key)) !== true) throw new DeviceError("foreign-plan");
  const plan = plain(value) as unknown as Plan;
  const isOwn = plan.task === toText(taskDigest) && isWhole(value["epoch"], epoch, epoch);
  if (!isOwn) throw new DeviceError("foreign-plan");
  if (!isPlanFor(value, plan, task)) throw new DeviceError("unknown-plan");
  if (!mechanismOf(task).planned!.keepsRule(plan, task)) throw new DeviceError("unsafe-plan");
  return { parameters: plan.protocol.parameters, digest: await digest(value["protocol"]!) };
}

/** Tells whether a plan is one for what is asked. */
function isPlanFor(value: SpelledObject, { protocol }: Plan, task: Task): boolean {
  const { types, fits } = mechanismOf(task).planned!;
  if (!hasMembers(value, ...PLAN_MEMBERS) || !hasMembers(value["protocol"], ...IDENTITY)) return false;
  const { minimum, counts, protocol: { parameters } } = value as { [name: string]: SpelledObject };
  return (
    isCount(minimum) &&
    isList(counts, isCount) &&
    hasMembers(parameters, ...Object.keys(types)) &&
    Object.entries(types).every(([name, isOfType]) => isOfType(parameters[name])) &&
    protocol.statistic === task.protocol.statistic &&
    protocol.mechanism === task.protocol.mechanism &&
    protocol.mode === task.protocol.mode &&
    fits(protocol, formOf(task))
  );
}

function digest(value: Json<Spelled>): Promise<Bytes> {
  return sha256(utf8(canonical(value)));
}
