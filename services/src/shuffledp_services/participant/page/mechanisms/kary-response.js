// k-ary response: one of the categories.

import { randomizeCategory } from "../randomize.js";
import { t } from "../texts.js";
import { plainMessage } from "../wire.js";
import { isAboutCategories, oneOf } from "./categories.js";

export const karyResponse = {
  name: "kary-response",
  formOf: oneOf,
  agrees: (protocol, terms) =>
    isAboutCategories(protocol, terms) && terms.subset_size === undefined,
  draw: ({ form, answer, epsilon, rng }) => [
    randomizeCategory(answer[0], form.options.length, epsilon, rng),
  ],
  plainOf: plainMessage,
  describe: ([category], { options }) => [options[category]],
  lead: () => t("lead-one"),
  about: (form, sure) => [t("about-one", { sure })],
};
