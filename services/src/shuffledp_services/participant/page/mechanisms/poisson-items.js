// Sets of items among a Poisson number of random ones; a plan says how many.

import { randomizeItems } from "../randomize.js";
import { t } from "../texts.js";
import { plainMessage } from "../wire.js";

export const poissonItems = {
  name: "poisson-items",
  // People choose central targets, and the analyst's plan keeps them.
  planned: true,
  formOf: ({ categories, set_size: most }) =>
    Array.isArray(categories) ? { kind: "some of", options: categories, most } : null,
  // A certificate comes with the plan: `fits` looks at that.
  agrees: () => true,
  fits: ({ parameters }, { options, most }) =>
    parameters.items === options.length && parameters.set_size === most,
  draw: ({ form, answer, level, plan, rng }) => {
    const numbers = {
      numItems: form.options.length,
      setSize: form.most,
      blanket: plan.blanket,
      reportSize: plan.report_size,
    };
    return randomizeItems(answer, numbers, plan.rates[level], rng);
  },
  plainOf: plainMessage,
  describe: (numbers, { options }) => {
    const times = new Map();
    for (const number of numbers.filter((item) => item < options.length)) {
      times.set(number, (times.get(number) ?? 0) + 1);
    }
    const named = [...times].sort(([one], [other]) => one - other);
    const lines = named.map(([item, count]) =>
      count > 1 ? t("times", { name: options[item], count }) : options[item],
    );
    const empty = numbers.length - [...times.values()].reduce((sum, count) => sum + count, 0);
    if (!empty) return lines;
    return [...lines, empty > 1 ? t("empty", { count: empty }) : t("one-empty")];
  },
  lead: () => t("lead-items"),
  about: (form, sure) => [t("about-items", { sure })],
};
