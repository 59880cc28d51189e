// Why a device does not take part, or a report was not accepted.

const SENTENCES = {
  "unknown-survey": "Expected a survey that this device can answer.",
  "unknown-suite": "Expected a suite that this device can seal with.",
  "no-plan": "Expected a published plan.",
  "unknown-plan": "Expected a plan for the survey's question.",
  "foreign-plan": "Expected a plan that the analyst signed for this epoch of this survey.",
  "unsafe-plan": "Expected a plan that keeps the survey's rule.",
  "no-signatures": "Expected an environment that can verify Ed25519 signatures.",
  "other-survey": "Expected a link to this survey.",
  "other-epoch": "Expected a link for this epoch.",
  "not-open": "Expected a survey that is open.",
  "not-begun": "Expected a survey that has an enrolment.",
  "no-storage": "Expected storage that keeps what is written.",
  "epochs-over": "Expected fewer epochs than the survey's allowance pays for.",
  "other-keys": "Expected the survey that was answered before in this epoch.",
  "other-plan": "Expected the plan that was followed before in this epoch.",
  "sent-elsewhere": "Expected the answer that was sent before in this epoch.",
  "wrong-receipt": "Expected a receipt that the shuffler signed for this report.",
  unreachable: "Expected an answer of the shuffler.",
  refused: "Expected the shuffler to accept the request.",
} as const;

/** What a program can tell people in their language. */
export type ErrorCode = keyof typeof SENTENCES;

export const ERROR_CODES = Object.freeze(Object.keys(SENTENCES)) as readonly ErrorCode[];

/** The shuffler's answer to what it refused (RFC 9457). */
export interface Problem {
  type?: unknown;
  title?: unknown;
}

/** Thrown where nothing is sent, or where a shuffler did not accept what was sent. */
export class DeviceError extends Error {
  readonly code: ErrorCode;
  /** Whether sending the same report again may help. */
  readonly retry: boolean;
  /** What the shuffler said, where it refused something. */
  readonly problem: Problem | null;

  constructor(code: ErrorCode, options: { retry?: boolean; problem?: Problem } = {}) {
    super(SENTENCES[code]);
    this.name = "DeviceError";
    this.code = code;
    this.retry = options.retry ?? false;
    this.problem = options.problem ?? null;
  }
}
