// Answers to several questions in one report, among Poisson numbers of random ones.

import { areAllowed, honestPeople, isPaid } from "../plan-rule.js";
import { randomizeAnswers } from "../randomize.js";
import { t } from "../texts.js";
import { plainMessage } from "../wire.js";
import { describeNumbers } from "./categories.js";

/** Tells whether groups of buckets are those of the questions. */
function isAbout(groups, questions) {
  return (
    Array.isArray(groups) &&
    groups.length === questions.length &&
    questions.every(
      ({ options, most }, place) =>
        groups[place].buckets === options.length && groups[place].most === most,
    )
  );
}

/** Returns the noise of a bucket, of all honest people together; NaN if it is another. */
function noiseOf({ noise }) {
  const { mean } = noise?.poisson ?? {};
  return mean > 0 && mean <= 1e9 ? mean : NaN;
}

function answersOf(groups) {
  return groups.reduce((sum, { most }) => sum + most, 0);
}

export const noisyCounts = {
  name: "noisy-counts",
  // People choose central targets, and the analyst's plan keeps them.
  planned: true,
  formOf: ({ questions }) =>
    Array.isArray(questions) ? { kind: "several", parts: questions } : null,
  agrees: ({ parameters }, { questions }) => isAbout(parameters.groups, questions),
  fits: ({ parameters }, { parts }) => isAbout(parameters.groups, parts),
  // See statistics/counts/counts_plan_rule.py.
  keepsRule: (plan, task) => {
    const { groups, honest: needed, report_size: size, ...rest } = plan.protocol.parameters;
    const answers = answersOf(groups);
    const honest = honestPeople(plan, task, answers);
    if (honest === null || !(Number.isInteger(needed) && needed >= 1 && needed <= honest)) {
      return false;
    }
    const rule = task.plan_rule;
    const means = groups.map(noiseOf);
    const row = rule.noise.findLastIndex((noise) =>
      groups.every(({ most }, place) => means[place] >= noise * Math.sqrt(most)),
    );
    const mean =
      groups.reduce((sum, { buckets }, place) => sum + means[place] * buckets, 0) / needed;
    const cap = size - answers;
    return (
      areAllowed(rest, task.choices, rule.rates[row]) &&
      isPaid(rule, mean, cap, 2 * (cap + groups.length), honest)
    );
  },
  draw: ({ answer, level, plan, rng }) => {
    const groups = plan.groups.map((group) => ({
      buckets: group.buckets,
      most: group.most,
      mean: (group.buckets * noiseOf(group)) / plan.honest,
    }));
    return randomizeAnswers(answer, groups, plan.report_size, plan.rates[level], rng);
  },
  plainOf: plainMessage,
  describe: (numbers, { parts }) => {
    const names = parts.flatMap(({ text, options }) =>
      options.map((option) => (parts.length > 1 ? `${text} ${option}` : option)),
    );
    // A message adds to an option's count; dummies are above all of them.
    return describeNumbers(numbers.map((number) => number / 2), names);
  },
  lead: () => t("lead-items"),
  about: (form, sure) => [t("about-items", { sure })],
};
