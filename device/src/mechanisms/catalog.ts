// Every mechanism that this device runs, with a line each. Nothing else in the package names
// one, or a statistic.

import type { Form, Mechanism } from "../mechanism.js";
import type { Task } from "../task.js";
import { gridResponse } from "./grid-response.js";
import { hadamardResponse } from "./hadamard-response.js";
import { karyResponse } from "./kary-response.js";
import { noisyCounts } from "./noisy-counts.js";
import { oneBit } from "./one-bit.js";
import { poissonItems } from "./poisson-items.js";
import { subsetSelection } from "./subset-selection.js";

const MECHANISMS = new Map<string, Mechanism>(
  [
    karyResponse,
    subsetSelection,
    hadamardResponse,
    oneBit,
    gridResponse,
    poissonItems,
    noisyCounts,
  ].map((mechanism) => [mechanism.name, mechanism as Mechanism]),
);

/** Returns a mechanism of a name; undefined if this device does not run it. */
export function mechanismNamed(name: string): Mechanism | undefined {
  return MECHANISMS.get(name);
}

/** Returns the mechanism that a readable task is certified with. */
export function mechanismOf(task: Task): Mechanism {
  return MECHANISMS.get(task.protocol.mechanism)!;
}

/** Returns the answer that people are asked for, and the kind of part that asks for it. */
export function formOf(task: Task): Form {
  return mechanismOf(task).formOf(task.question.terms)!;
}
