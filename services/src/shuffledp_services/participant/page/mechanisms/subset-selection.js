// Subset selection: a set of categories of a size that the task states.

import { randomizeSubset } from "../randomize.js";
import { t } from "../texts.js";
import { plainSet } from "../wire.js";
import { describeSeveral, isAboutCategories, oneOf } from "./categories.js";

export const subsetSelection = {
  name: "subset-selection",
  formOf: oneOf,
  agrees: (protocol, terms) =>
    isAboutCategories(protocol, terms) && protocol.parameters.subset_size === terms.subset_size,
  draw: ({ form, answer, epsilon, rng, task }) => {
    const { subset_size: size } = task.question.terms;
    return [randomizeSubset(answer[0], form.options.length, size, epsilon, rng)];
  },
  plainOf: (message, { options }) => plainSet(message, options.length),
  describe: ([message], { options }) => describeSeveral(message.map((category) => options[category])),
  lead: () => t("lead-several"),
  about: (form, sure) => [t("about-several", { sure })],
};
