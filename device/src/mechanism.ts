// What a mechanism declares: answers it takes, protocols it runs, messages it draws.

import type { Bytes } from "./bytes.js";
import type { Json } from "./json.js";
import type { Draws } from "./rng.js";
import type { Value } from "./value-checks.js";
import type { Plan, Protocol, Question, Task, Terms } from "./task.js";

/** One of several texts. */
export interface OneOf {
  kind: "one of";
  options: string[];
}

/** Up to `most` of several texts. */
export interface SomeOf {
  kind: "some of";
  options: string[];
  most: number;
}

/** A number from `low` to `high`; on a grid of `values` numbers if there are any. */
export interface NumberRange {
  kind: "number";
  low: number;
  high: number;
  values?: number;
}

/** Yes is 1, and no is 0. */
export interface YesOrNo {
  kind: "yes or no";
  low: 0;
  high: 1;
}

/** Several questions, each a choice, a number, or made of others. */
export interface Several {
  kind: "several";
  parts: Question[];
}

/** What people are asked for. */
export type Form = OneOf | SomeOf | NumberRange | YesOrNo | Several;

/** A number; of a mechanism that sends sets, categories in ascending order. */
export type Message = number | number[];

/** A bucket of a question: an option's position, or a place among `group`'s of a number. */
export interface Cell {
  question: number;
  group: number;
  bucket: number;
}

/** What drawn messages say, for people to read: positions stand for texts of the form. */
export type Meaning =
  | { kind: "one option"; options: number[] }
  | { kind: "several options"; options: number[] }
  | { kind: "grid number"; number: number }
  | { kind: "end of range"; isHigh: boolean }
  | { kind: "yes or no"; isYes: boolean }
  | { kind: "counted options"; sent: { option: number; times: number }[]; empty: number }
  | { kind: "counted cells"; sent: { cells: Cell[]; times: number }[]; empty: number };

/** What an answer is randomized with. */
export interface DrawInput<F extends Form> {
  form: F;
  answer: number[];
  /** Position of the chosen level or target. */
  level: number;
  /** The chosen level or target itself. */
  epsilon: number;
  /** Of the protocol that runs: the plan's, if there is one. */
  parameters: Protocol["parameters"];
  rng: Draws;
}

export interface Mechanism<F extends Form = Form> {
  readonly name: string;
  /** Returns the answer that people are asked for; null for terms that are not its own. */
  formOf(terms: Terms): F | null;
  /** Returns the parameters of the protocol that a task certifies (spec/task.md). */
  parametersOf(form: F, terms: Terms, choices: number[]): Json<number>;
  /** What keeps central targets; null where people choose local levels. */
  readonly planned: PlannedDraws<F> | null;
  draw(input: DrawInput<F>): Message[];
  /** Returns a message as it is before it is sealed. */
  plainOf(message: Message, form: F): Bytes;
  /** The kind of meaning that messages have. */
  meaningKind(form: F): Meaning["kind"];
  meaningOf(messages: Message[], form: F): Meaning;
}

/** Draws that follow the analyst's plan. */
export interface PlannedDraws<F extends Form> {
  /** Checks of the plan's parameters, by their names: their types. */
  readonly types: Readonly<Record<string, (value: Value) => boolean>>;
  /** Tells whether a plan's protocol is one for a form. */
  fits(protocol: Protocol, form: F): boolean;
  /** Tells whether a plan keeps the rule of its task (spec/plan.md). */
  keepsRule(plan: Plan, task: Task): boolean;
}
