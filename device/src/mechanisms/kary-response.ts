// k-ary response: one of the categories.

import type { Mechanism, OneOf } from "../mechanism.js";
import { plainNumber } from "../message-bytes.js";
import { randomizeCategory } from "../single-message.js";
import { hasTerms, oneOf } from "./categories.js";

const NAME = "kary-response";

export const karyResponse: Mechanism<OneOf> = {
  name: NAME,
  planned: null,
  formOf: (terms) =>
    terms.mechanism === NAME && hasTerms(terms, "categories", "mechanism") ? oneOf(terms) : null,
  parametersOf: ({ options }) => ({ categories: options.length }),
  draw: ({ form, answer, epsilon, rng }) => [
    randomizeCategory(answer[0]!, form.options.length, epsilon, rng),
  ],
  plainOf: (message) => plainNumber(message as number),
  meaningKind: () => "one option",
  meaningOf: (messages) => ({ kind: "one option", options: messages as number[] }),
};
