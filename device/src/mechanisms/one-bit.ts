// One bit: about a number in a range, or about yes and no, which are 1 and 0.

import type { Mechanism, NumberRange, YesOrNo } from "../mechanism.js";
import { plainNumber } from "../message-bytes.js";
import { randomizeNumber } from "../single-message.js";
import { hasTerms } from "./categories.js";
import { rangeOf } from "./ranges.js";

const NAME = "one-bit";
const YES_OR_NO: YesOrNo = { kind: "yes or no", low: 0, high: 1 };

export const oneBit: Mechanism<NumberRange | YesOrNo> = {
  name: NAME,
  planned: null,
  formOf: (terms) => {
    if (hasTerms(terms)) return YES_OR_NO;
    // Where no mechanism is named, it is this one.
    const { mechanism = NAME, ...range } = terms;
    return mechanism === NAME && hasTerms(range, "low", "high") ? rangeOf(range) : null;
  },
  parametersOf: ({ kind, low, high }) =>
    kind === "number" ? { low, high, randomizer: { low, high } } : {},
  draw: ({ form, answer, epsilon, rng }) => [
    randomizeNumber(answer[0]!, form.low, form.high, epsilon, rng),
  ],
  plainOf: (message) => plainNumber(message as number),
  meaningKind: ({ kind }) => (kind === "number" ? "end of range" : "yes or no"),
  meaningOf: ([bit], { kind }) =>
    kind === "number"
      ? { kind: "end of range", isHigh: bit === 1 }
      : { kind: "yes or no", isYes: bit === 1 },
};
