// What mechanisms that take a number of a range have in common.

import type { NumberRange } from "../mechanism.js";
import type { Terms } from "../task.js";

/** Returns the form of a number of a range; null where there is no such range. */
export function rangeOf({ low, high }: Terms): NumberRange | null {
  return Number.isFinite(low) && Number.isFinite(high) && low! < high!
    ? { kind: "number", low: low!, high: high! }
    : null;
}
