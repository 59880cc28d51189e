// Sets of items among a Poisson number of random ones; a plan says how many.

import { areAllowed, honestPeople, isPaid } from "../plan-rule.js";
import { randomizeItems } from "../randomize.js";
import { t } from "../texts.js";
import { plainMessage } from "../wire.js";
import { describeNumbers } from "./categories.js";

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
  // See statistics/items/items_plan_rule.py.
  keepsRule: (plan, task) => {
    const { blanket, report_size: size, ...rest } = plan.protocol.parameters;
    const { set_size: setSize } = task.question.terms;
    const honest = honestPeople(plan, task, setSize);
    if (honest === null || !(blanket > 0 && blanket <= 1e5)) return false;
    const rule = task.plan_rule;
    const row = rule.noise.findLastIndex((noise) => noise <= honest * blanket);
    const cap = size - setSize;
    return (
      areAllowed(rest, task.choices, rule.rates[row]) &&
      isPaid(rule, blanket, cap, cap, honest)
    );
  },
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
  describe: (numbers, { options }) => describeNumbers(numbers, options),
  lead: () => t("lead-items"),
  about: (form, sure) => [t("about-items", { sure })],
};
