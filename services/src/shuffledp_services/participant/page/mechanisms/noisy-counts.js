// Answers to several questions in one report, among Poisson numbers of random ones.

import { bucketsOf, groupsOf, isChoice, isForm, isNumber } from "../form-encoding.js";
import { areAllowed, honestPeople, isPaid } from "../plan-rule.js";
import { randomizeAnswers } from "../randomize.js";
import { t } from "../texts.js";
import { plainMessage } from "../wire.js";
import { describeNumbers } from "./categories.js";

/** Tells whether groups of buckets are those of the questions. */
function isAbout(groups, questions) {
  const wanted = groupsOf(questions);
  return (
    Array.isArray(groups) &&
    groups.length === wanted.length &&
    wanted.every(
      ({ buckets, most }, place) =>
        groups[place].buckets === buckets && groups[place].most === most,
    )
  );
}

/** Returns a name of each bucket: options are named, and buckets of numbers counted. */
function namesOf(questions) {
  return groupsOf(questions).flatMap(({ cells, buckets, question }, group) =>
    Array.from({ length: buckets }, (_, bucket) => {
      const parts = cells.map(([place, , count], part) => {
        const below = cells.slice(part + 1).reduce((product, [, , each]) => product * each, 1);
        const own = Math.floor(bucket / below) % count;
        const { text, options } = questions[place];
        if (isNumber(questions[place])) {
          return t("counter", { text, group: group + 1, bucket: own + 1 });
        }
        return questions.length > 1 ? `${text} ${options[own]}` : options[own];
      });
      return isChoice(questions[question]) ? parts[0] : parts.join(" & ");
    }),
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
    isForm(questions) ? { kind: "several", parts: questions } : null,
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
    // This page sends answers as they are, and randomizes none before.
    if (rest.local_epsilon !== undefined) return false;
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
  draw: ({ answer, level, form, plan, rng }) => {
    const groups = plan.groups.map((group) => ({
      buckets: group.buckets,
      most: group.most,
      mean: (group.buckets * noiseOf(group)) / plan.honest,
    }));
    const picked = bucketsOf(answer, form.parts, rng);
    return randomizeAnswers(picked, groups, plan.report_size, plan.rates[level], rng);
  },
  plainOf: plainMessage,
  describe: (numbers, { parts }) => {
    // A message adds to an option's count; dummies are above all of them.
    return describeNumbers(numbers.map((number) => number / 2), namesOf(parts));
  },
  lead: () => t("lead-items"),
  about: ({ parts }, sure) => {
    const counters = parts.some(isNumber) ? [t("about-counters")] : [];
    return [...counters, t("about-items", { sure })];
  },
};
