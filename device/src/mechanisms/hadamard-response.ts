// Hadamard response: a column, which speaks for half of the categories.

import type { Mechanism, OneOf } from "../mechanism.js";
import { plainNumber } from "../message-bytes.js";
import { randomizeColumn, speaksFor } from "../single-message.js";
import { hasTerms, oneOf } from "./categories.js";

const NAME = "hadamard-response";

export const hadamardResponse: Mechanism<OneOf> = {
  name: NAME,
  planned: null,
  formOf: (terms) =>
    terms.mechanism === NAME && hasTerms(terms, "categories", "mechanism") ? oneOf(terms) : null,
  parametersOf: ({ options }) => ({ categories: options.length }),
  draw: ({ form, answer, epsilon, rng }) => [
    randomizeColumn(answer[0]!, form.options.length, epsilon, rng),
  ],
  plainOf: (message) => plainNumber(message as number),
  meaningKind: () => "several options",
  meaningOf: ([column], { options }) => ({
    kind: "several options",
    options: [...options.keys()].filter((category) => speaksFor(column as number, category)),
  }),
};
