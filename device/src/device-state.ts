// Permanent state of a device: a secret of its own, and the steps it took part in.
//
//     shuffledp.secret         32 bytes, drawn once
//     shuffledp.task.TASK-ID   epochs: {task, plans: {step: plan}, reports: {sender.step: answer}}
//
// A report is recorded before it is sent: the server may store it and answer with an error.
// Answers are stored as keyed digests: a reader without the secret cannot test guesses.

import { concat, fromText, hex, hmacSha256, toText, utf8 } from "./bytes.js";
import type { Bytes } from "./bytes.js";
import { DeviceError } from "./device-error.js";
import type { Survey } from "./survey.js";
import { numEpochs } from "./task.js";

const SECRET = "shuffledp.secret";
const SECRET_SIZE = 32;

/** What keeps texts by name, as `localStorage` does; calls may throw. */
export interface DeviceStorage {
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
}

/** An answer that is about to be sent. */
export interface PendingAnswer {
  /** The device's, which its messages are drawn with. */
  secret: Bytes;
  /** Of the link. */
  token: Bytes;
  /** From `streamContext`. */
  context: Bytes;
}

interface EpochRecord {
  task: string;
  plans: Record<string, string>;
  reports: Record<string, string>;
}

/** State in a storage, which is asked for whenever it is used. */
export class DeviceState {
  readonly #storage: () => DeviceStorage;

  constructor(storage: () => DeviceStorage) {
    this.#storage = storage;
  }

  /** Returns the secret of this device, drawn when it is asked for first. */
  secret(): Bytes {
    const stored = fromText(this.#read(SECRET), SECRET_SIZE);
    if (stored) return stored;
    const drawn = crypto.getRandomValues(new Uint8Array(SECRET_SIZE));
    this.#write(SECRET, toText(drawn));
    return drawn;
  }

  /**
   * Tells whether another answer was sent before, so that this one costs its participant one
   * more local level.
   *
   * @throws DeviceError if nothing may be sent.
   */
  async isChanged(survey: Survey, pending: PendingAnswer): Promise<boolean> {
    const { sent, answer } = await this.#records(survey, pending);
    return sent !== undefined && sent !== answer;
  }

  /**
   * Records what is about to be sent.
   *
   * @throws DeviceError if another answer was sent, unless the participant accepts that.
   */
  async record(survey: Survey, pending: PendingAnswer, acceptChange: boolean): Promise<void> {
    const { epochs, name, sender, sent, answer } = await this.#records(survey, pending);
    if (!acceptChange && sent !== undefined && sent !== answer) {
      throw new DeviceError("sent-elsewhere");
    }
    const { epoch, stage, planDigest } = survey.step;
    const own = epochs[epoch] ?? { task: survey.fingerprint, plans: {}, reports: {} };
    own.plans[stage] = hex(planDigest);
    own.reports[sender] = answer;
    this.#write(name, JSON.stringify({ ...epochs, [epoch]: own }));
  }

  async #records(survey: Survey, { secret, token, context }: PendingAnswer) {
    // Two tabs may have drawn a secret at the same moment.
    if (this.#read(SECRET) !== toText(secret)) throw new DeviceError("no-storage");
    const { task, step, taskId, fingerprint } = survey;
    const name = `shuffledp.task.${toText(taskId)}`;
    const epochs = attempt(
      () => JSON.parse(this.#storage().getItem(name) ?? "{}") as Record<string, EpochRecord>,
    );
    const own = epochs[step.epoch];
    if (!own && Object.keys(epochs).length >= numEpochs(task)) throw new DeviceError("epochs-over");
    if (own && own.task !== fingerprint) throw new DeviceError("other-keys");
    const plan = own?.plans[step.stage];
    if (plan !== undefined && plan !== hex(step.planDigest)) throw new DeviceError("other-plan");
    const digest = async (purpose: string, content: Bytes) => {
      const message = concat(utf8(`shuffledp device ${purpose}\0`), content);
      return hex((await hmacSha256(secret, message)).slice(0, 16));
    };
    const sender = `${await digest("participant", token)}.${step.stage}`;
    const answer = await digest("answer", context);
    return { epochs, name, sender, sent: own?.reports[sender], answer };
  }

  #read(name: string): string | null {
    return attempt(() => this.#storage().getItem(name));
  }

  #write(name: string, text: string): void {
    const stored = attempt(() => {
      this.#storage().setItem(name, text);
      return this.#storage().getItem(name);
    });
    if (stored !== text) throw new DeviceError("no-storage");
  }
}

/** Storages that keep nothing throw errors of several kinds. */
function attempt<T>(use: () => T): T {
  try {
    return use();
  } catch {
    throw new DeviceError("no-storage");
  }
}
