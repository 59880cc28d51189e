// Hadamard response: a column, which speaks for half of the categories.

import { randomizeColumn, speaksFor } from "../randomize.js";
import { t } from "../texts.js";
import { plainMessage } from "../wire.js";
import { describeSeveral, isAboutCategories, oneOf } from "./categories.js";

export const hadamardResponse = {
  name: "hadamard-response",
  formOf: oneOf,
  agrees: (protocol, terms) =>
    isAboutCategories(protocol, terms) && terms.subset_size === undefined,
  draw: ({ form, answer, epsilon, rng }) => [
    randomizeColumn(answer[0], form.options.length, epsilon, rng),
  ],
  plainOf: plainMessage,
  describe: ([column], { options }) =>
    describeSeveral(options.filter((_, category) => speaksFor(column, category))),
  lead: () => t("lead-several"),
  about: (form, sure) => [t("about-several", { sure })],
};
