// Permanent state of this browser: a secret of its own, and the steps it took part in.
//
//     shuffledp.secret         32 bytes, drawn once
//     shuffledp.task.TASK-ID   epochs: {task, plans: {step: plan}, reports: {who.step: answer}}
//
// A report is recorded before it is sent: the server may store it and answer with an error.
// Answers are kept as keyed digests: a reader without the secret cannot test guesses.

import { hmac } from "./coins.js";
import { Trouble } from "./survey.js";
import { t } from "./texts.js";
import { concat, fromText, hex, toText, utf8 } from "./wire.js";

const SECRET = "shuffledp.secret";
const SECRET_SIZE = 32;

/** Returns the secret of this browser, drawn when it is asked for first. */
export function deviceSecret(storage) {
  const kept = fromText(attempt(() => storage().getItem(SECRET)), SECRET_SIZE);
  if (kept) return kept;
  const drawn = crypto.getRandomValues(new Uint8Array(SECRET_SIZE));
  write(storage, SECRET, toText(drawn));
  return drawn;
}

/**
 * Tells whether an answer is another one than was sent before, which costs its participant
 * one more local level; throws Trouble if nothing may be sent.
 *
 * @param storage Returns where things are kept: `() => localStorage`.
 * @param survey From `read`.
 * @param {Uint8Array} secret From `deviceSecret`, which the message is drawn with.
 * @param {Uint8Array} token Of the link.
 * @param {Uint8Array} context From `coinContext`.
 */
export async function isChanged(storage, survey, secret, token, context) {
  const { sent, answer } = await looked(storage, survey, secret, token, context);
  return sent !== undefined && sent !== answer;
}

/** Writes down what is about to be sent; throws Trouble if another answer was sent. */
export async function remember(storage, survey, secret, token, context, { changed }) {
  const found = await looked(storage, survey, secret, token, context);
  const { kept, name, who, sent, answer } = found;
  if (!changed && sent !== undefined && sent !== answer) throw new Trouble(t("sent-elsewhere"));
  const { epoch, stage, planDigest } = survey.step;
  const own = kept[epoch] ?? { task: survey.fingerprint, plans: {}, reports: {} };
  own.plans[stage] = hex(planDigest);
  own.reports[who] = answer;
  write(storage, name, JSON.stringify({ ...kept, [epoch]: own }));
}

async function looked(storage, survey, secret, token, context) {
  // Two tabs may have drawn a secret at the same moment.
  const there = fromText(attempt(() => storage().getItem(SECRET)), SECRET_SIZE);
  if (!there || toText(there) !== toText(secret)) throw new Trouble(t("no-storage"));
  const { task, step, taskId, fingerprint } = survey;
  const name = `shuffledp.task.${toText(taskId)}`;
  const kept = attempt(() => JSON.parse(storage().getItem(name) ?? "{}"));
  const own = kept[step.epoch];
  if (!own && Object.keys(kept).length >= epochsOf(task)) throw new Trouble(t("epochs-over"));
  if (own && own.task !== fingerprint) throw new Trouble(t("other-keys"));
  const plan = own?.plans[step.stage];
  if (plan !== undefined && plan !== hex(step.planDigest)) throw new Trouble(t("other-plan"));
  const digest = async (purpose, content) =>
    hex((await hmac(secret, concat(utf8(`shuffledp device ${purpose}\0`), content))).slice(0, 16));
  const who = `${await digest("participant", token)}.${step.stage}`;
  return { kept, name, who, sent: own?.reports[who], answer: await digest("answer", context) };
}

/** Returns how many epochs every choice can pay for, as promised. */
function epochsOf({ allowance, promise }) {
  const pairs = allowance.map((whole, place) => Math.floor(whole / promise[place]));
  return Math.max(1, Math.min(...pairs));
}

function write(storage, name, text) {
  const kept = attempt(() => {
    storage().setItem(name, text);
    return storage().getItem(name);
  });
  if (kept !== text) throw new Trouble(t("no-storage"));
}

/** Browsers that keep nothing throw errors of several kinds. */
function attempt(use) {
  try {
    return use();
  } catch {
    throw new Trouble(t("no-storage"));
  }
}
