// Sets of items among a Poisson number of random ones; a plan says how many.

import type { Mechanism, SomeOf } from "../mechanism.js";
import { plainNumber } from "../message-bytes.js";
import { randomizeItems } from "../noise-messages.js";
import {
  PLAN_TYPES,
  areAllowed,
  honestPeople,
  identityOfChoices,
  isCount,
  isPaid,
} from "../plan-rule.js";
import type { PlanParameters } from "../plan-rule.js";
import type { PlanRule } from "../task.js";
import { isFloat } from "../value-checks.js";
import { areCategories, hasTerms, timesOf } from "./categories.js";

// Largest set of a person.
const MOST_ITEMS = 256;

interface ItemsParameters extends PlanParameters {
  items: number;
  set_size: number;
  blanket: number;
}

export const poissonItems: Mechanism<SomeOf> = {
  name: "poisson-items",
  formOf: (terms) => {
    const { categories: options, set_size: most } = terms;
    if (!hasTerms(terms, "categories", "set_size") || !areCategories(options)) return null;
    const isSize = Number.isInteger(most) && most! >= 1 && most! <= MOST_ITEMS;
    return isSize && most! <= options.length ? { kind: "some of", options, most: most! } : null;
  },
  parametersOf: ({ options, most }, _, choices) => ({
    items: options.length,
    set_size: most,
    choices: identityOfChoices(choices),
  }),
  // People choose central targets, and the analyst's plan keeps them.
  planned: {
    fits: ({ parameters }, { options, most }) => {
      const { items, set_size: setSize } = parameters as Partial<ItemsParameters>;
      return items === options.length && setSize === most;
    },
    types: { ...PLAN_TYPES, items: isCount, set_size: isCount, blanket: isFloat },
    // See statistics/items/items_plan_rule.py.
    keepsRule: (plan, task) => {
      const parameters = plan.protocol.parameters as unknown as ItemsParameters;
      const { blanket, report_size: size } = parameters;
      const setSize = task.question.terms.set_size!;
      const honest = honestPeople(plan, task, setSize);
      if (honest === null || !(blanket > 0 && blanket <= 1e5)) return false;
      const rule = task.plan_rule as PlanRule;
      const row = rule.noise.findLastIndex((noise) => noise <= honest * blanket);
      const cap = size - setSize;
      return (
        areAllowed(parameters, task.choices, rule.rates[row]) &&
        isPaid(rule, blanket, cap, cap, honest)
      );
    },
  },
  draw: ({ form, answer, level, parameters, rng }) => {
    const { blanket, report_size: reportSize, rates } = parameters as unknown as ItemsParameters;
    const numbers = { numItems: form.options.length, setSize: form.most, blanket, reportSize };
    return randomizeItems(answer, numbers, rates[level]!, rng);
  },
  plainOf: (message) => plainNumber(message as number),
  meaningKind: () => "counted options",
  meaningOf: (messages, { options }) => {
    const { sent, empty } = timesOf(messages as number[], options.length);
    return {
      kind: "counted options",
      sent: sent.map(([option, times]) => ({ option, times })),
      empty,
    };
  },
};
