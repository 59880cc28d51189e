// k-ary response about a number, which is rounded to one of the numbers of a grid.

import type { Mechanism, NumberRange } from "../mechanism.js";
import { plainNumber } from "../message-bytes.js";
import { gridNumber, randomizeOnGrid } from "../single-message.js";
import { hasTerms } from "./categories.js";
import { rangeOf } from "./ranges.js";

const NAME = "grid-response";
const MOST_VALUES = 10_000;

type Grid = NumberRange & { values: number };

export const gridResponse: Mechanism<Grid> = {
  name: NAME,
  planned: null,
  formOf: (terms) => {
    const { mechanism, values } = terms;
    const isOwn = mechanism === NAME && hasTerms(terms, "low", "high", "mechanism", "values");
    const range = isOwn ? rangeOf(terms) : null;
    const isGrid = Number.isInteger(values) && values! >= 2 && values! <= MOST_VALUES;
    return range && isGrid ? { ...range, values: values! } : null;
  },
  parametersOf: ({ low, high, values }) => ({ low, high, randomizer: { low, high, values } }),
  draw: ({ form, answer, epsilon, rng }) => [
    randomizeOnGrid(answer[0]!, form.low, form.high, form.values, epsilon, rng),
  ],
  plainOf: (message) => plainNumber(message as number),
  meaningKind: () => "grid number",
  meaningOf: ([point], { low, high, values }) => ({
    kind: "grid number",
    number: gridNumber(point as number, low, high, values),
  }),
};
