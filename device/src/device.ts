// A participant's device: randomizes an answer, seals it, and sends it once.

import type { Bytes } from "./bytes.js";
import { DeviceError } from "./device-error.js";
import { DeviceState } from "./device-state.js";
import type { DeviceStorage, PendingAnswer } from "./device-state.js";
import type { Link } from "./link.js";
import type { Message } from "./mechanism.js";
import { answerNumbers, draw, pack } from "./message.js";
import type { Answer } from "./message.js";
import { MEDIA_TYPE } from "./message-bytes.js";
import { streamContext, withStream } from "./permanent-randomness.js";
import { readReceipt } from "./receipt.js";
import type { Receipt } from "./receipt.js";
import { request } from "./request.js";
import { refusalOf } from "./survey.js";
import type { Survey } from "./survey.js";

/** A randomized, sealed answer: nothing of it was sent yet. */
export interface Report {
  survey: Survey;
  /** Position of the chosen level or target. */
  level: number;
  /** Randomized messages, which the analyst will see. */
  messages: Message[];
  /** The upload. */
  body: Bytes;
  /** Whether another answer was sent before: this one costs one more local level. */
  isChanged: boolean;
}

/**
 * One device of one participant.
 *
 * Its messages are drawn once: the same answer to the same survey is the same message
 * whenever it is given again. People who could draw again until they like the result, or were
 * asked again by a server that says it has nothing, would tell more than their level allows.
 */
export class Device {
  readonly #state: DeviceState;
  readonly #pending = new WeakMap<Report, PendingAnswer>();

  /** @param storage What outlives the page: without it, nothing is sent. */
  constructor(storage: () => DeviceStorage = () => localStorage) {
    this.#state = new DeviceState(storage);
  }

  /**
   * Randomizes and seals an answer; sends nothing.
   *
   * @param level The position of the person's choice among `survey.task.choices`.
   * @param answer Of `formOf(survey.task)`; null where `survey.isChoosing`.
   * @throws DeviceError if nothing may be sent.
   * @throws RangeError if the level or the answer is out of range.
   */
  async prepare(survey: Survey, link: Link, level: number, answer: Answer): Promise<Report> {
    const refusal = refusalOf(survey, link);
    if (refusal) throw new DeviceError(refusal);
    if (survey.isChoosing !== (answer === null)) throw new RangeError("Expected an answer.");
    const numbers = answerNumbers(answer);
    const secret = this.#state.secret();
    const context = await streamContext(survey.step, link.secret, level, numbers);
    const pending = { secret, token: link.token, context };
    const isChanged = await this.#state.isChanged(survey, pending);
    const messages = await withStream(secret, context, (rng) => draw(survey, level, numbers, rng));
    const body = await pack(survey, level, messages, link.token);
    const report = { survey, level, messages, body, isChanged };
    this.#pending.set(report, pending);
    return report;
  }

  /**
   * Sends a report to the survey's shuffler; the same one may be sent again after an error
   * with `retry`.
   *
   * @param options `acceptChange` says that the participant accepts the cost of another
   *   answer than they sent before.
   * @throws DeviceError if it was not sent, or not accepted.
   */
  async send(report: Report, options: { acceptChange?: boolean } = {}): Promise<Receipt> {
    const pending = this.#pending.get(report);
    if (!pending) throw new TypeError("Expected a report that this device prepared.");
    const { survey, body, messages } = report;
    // Recorded first: the shuffler may store a report and answer with an error.
    await this.#state.record(survey, pending, options.acceptChange ?? false);
    const text = await request(`${survey.url}/reports`, {
      method: "POST",
      headers: { "Content-Type": MEDIA_TYPE },
      body,
    });
    return readReceipt(text, survey, body, messages.length);
  }
}
