// Every mechanism that this page runs, with a line each.
//
// A mechanism says which answer it takes (`formOf`), whether what is certified is what it
// would run (`agrees`), and how an answer becomes messages (`draw`), bytes (`plainOf`) and
// words (`describe`, `lead`, `about`). One that follows a plan (`planned`) says whether a
// plan is for the question (`fits`) and keeps the task's rule (`keepsRule`). Nothing else on
// this page names one, or a statistic.

import { gridResponse } from "./grid-response.js";
import { hadamardResponse } from "./hadamard-response.js";
import { karyResponse } from "./kary-response.js";
import { noisyCounts } from "./noisy-counts.js";
import { oneBit } from "./one-bit.js";
import { poissonItems } from "./poisson-items.js";
import { subsetSelection } from "./subset-selection.js";

const MECHANISMS = new Map(
  [
    karyResponse,
    subsetSelection,
    hadamardResponse,
    oneBit,
    gridResponse,
    poissonItems,
    noisyCounts,
  ].map((mechanism) => [mechanism.name, mechanism]),
);

/** Returns the mechanism that a task is certified with; undefined if it is not known. */
export function mechanismOf(task) {
  return MECHANISMS.get(task?.protocol?.mechanism);
}

/** Returns the answer that people are asked for, and the kind of part that asks for it. */
export function formOf(task) {
  return mechanismOf(task).formOf(task.question.terms);
}
