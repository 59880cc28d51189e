// The public terms of a survey, as a shuffler serves them (spec/task.md), with plain numbers.

/** What a question states, whatever its statistic: its mechanism reads what it knows. */
export interface Terms {
  categories?: string[];
  mechanism?: string;
  subset_size?: number;
  set_size?: number;
  low?: number;
  high?: number;
  values?: number;
  questions?: Question[];
}

/** One of several things to pick up to `most` of. */
export interface Choice {
  text: string;
  options: string[];
  most: number;
}

/** A number of a range, and how it becomes buckets: by `edges` or by `steps`. */
export interface Quantity {
  text: string;
  unit: string;
  low: number;
  high: number;
  edges?: number[];
  steps?: number;
  /** Width and number of buckets. */
  levels: [number, number][];
  /** There where a person may leave it out: such people lie in the last bucket of each level. */
  skippable?: true;
}

/** What is made of two to four other questions, at the positions `of`. */
export interface Combination {
  of: number[];
  /** Each a list of (question, width, buckets). */
  groups: [number, number, number][][];
}

export type Question = Choice | Quantity | Combination;

/** What a protocol is identified by. */
export interface Protocol {
  statistic: string;
  mechanism: string;
  parameters: Readonly<Record<string, unknown>>;
  mode: string;
}

/** Texts in another language: `answers` in the order of the question's own. */
export interface Translation {
  name: string;
  question: string;
  answers: string[];
  consent: string;
}

export interface Notice {
  asker: string;
  contact: string;
  consent: string;
  language: string;
  translations: Readonly<Record<string, Translation>>;
}

/** Noise and rates of plans that keep every target, row by row. */
export interface PlanRule {
  noise: number[];
  rates: number[][];
  cut: number;
  coin_error: number;
}

export interface Task {
  version: number;
  task_id: string;
  name: string;
  notice: Notice;
  question: { statistic: string; text: string; mode: string; terms: Terms };
  protocol: Protocol;
  /** Local levels, or central targets, in ascending order. */
  choices: number[];
  minimum: number[];
  /** The central epsilon of an epoch, for each choice. */
  promise: number[];
  /** The sum of central epsilons over all epochs, for each choice. */
  allowance: number[];
  delta: number;
  absent: number;
  suite: string;
  analyst_key: string;
  analyst_signing_key: string;
  shuffler_signing_key: string;
  enroller_signing_key: string;
  succeeds: string | null;
  plan_rule?: PlanRule;
}

/** The protocol of answers, which the analyst signs where people choose targets. */
export interface Plan {
  task: string;
  epoch: number;
  protocol: Protocol;
  minimum: number;
  counts: number[];
  signature: string;
}

/** Returns how many epochs every choice can pay for, as promised. */
export function numEpochs({ allowance, promise }: Task): number {
  const pairs = allowance.map((whole, place) => Math.floor(whole / promise[place]!));
  return Math.max(1, Math.min(...pairs));
}
