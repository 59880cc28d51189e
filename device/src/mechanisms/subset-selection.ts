// Subset selection: a set of categories of a size that the task states.

import type { Mechanism, OneOf } from "../mechanism.js";
import { plainSet } from "../message-bytes.js";
import { randomizeSubset } from "../single-message.js";
import { hasTerms, oneOf } from "./categories.js";

const NAME = "subset-selection";

export const subsetSelection: Mechanism<OneOf> = {
  name: NAME,
  planned: null,
  formOf: (terms) => {
    const form = hasTerms(terms, "categories", "mechanism", "subset_size") ? oneOf(terms) : null;
    const size = terms.subset_size!;
    const isSize = Number.isInteger(size) && size >= 1 && size < (form?.options.length ?? 0);
    return terms.mechanism === NAME && isSize ? form : null;
  },
  parametersOf: ({ options }, terms) => ({
    categories: options.length,
    subset_size: terms.subset_size!,
  }),
  draw: ({ form, answer, epsilon, parameters, rng }) => {
    const size = parameters["subset_size"] as number;
    return [randomizeSubset(answer[0]!, form.options.length, size, epsilon, rng)];
  },
  plainOf: (message, { options }) => plainSet(message as number[], options.length),
  meaningKind: () => "several options",
  meaningOf: ([message]) => ({ kind: "several options", options: message as number[] }),
};
