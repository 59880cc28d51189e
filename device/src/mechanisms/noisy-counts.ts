// Answers to several questions in one report, among Poisson numbers of random ones.

import { bucketsOf, cellsOf, groupsOf, isForm } from "../form-encoding.js";
import type { Mechanism, Several } from "../mechanism.js";
import { plainNumber } from "../message-bytes.js";
import { randomizeAnswers } from "../noise-messages.js";
import {
  PLAN_TYPES,
  areAllowed,
  honestPeople,
  identityOfChoices,
  isCount,
  isPaid,
} from "../plan-rule.js";
import type { PlanParameters } from "../plan-rule.js";
import type { PlanRule, Question } from "../task.js";
import { hasMembers, isFloat, isList } from "../value-checks.js";
import type { Value } from "../value-checks.js";
import { hasTerms, timesOf } from "./categories.js";

interface PlannedGroup {
  buckets: number;
  most: number;
  noise: { poisson: { mean: number } };
}

interface CountsParameters extends PlanParameters {
  groups: PlannedGroup[];
  honest: number;
}

/** Tells whether a group of a plan has the types that it should, and Poisson noise. */
function isGroup(value: Value): boolean {
  if (!hasMembers(value, "buckets", "most", "noise")) return false;
  const { buckets, most, noise } = value;
  const poisson = hasMembers(noise, "poisson") ? noise["poisson"] : undefined;
  return (
    isCount(buckets) && isCount(most) && hasMembers(poisson, "mean") && isFloat(poisson["mean"])
  );
}

/** Tells whether groups of buckets are those of the questions. */
function areAbout(groups: PlannedGroup[], questions: Question[]): boolean {
  const wanted = groupsOf(questions);
  return (
    groups.length === wanted.length &&
    wanted.every(
      ({ buckets, most }, place) =>
        groups[place]!.buckets === buckets && groups[place]!.most === most,
    )
  );
}

/** Returns the noise of a bucket, of all honest people together; NaN if out of range. */
function noiseOf({ noise: { poisson } }: PlannedGroup): number {
  return poisson.mean > 0 && poisson.mean <= 1e9 ? poisson.mean : NaN;
}

export const noisyCounts: Mechanism<Several> = {
  name: "noisy-counts",
  formOf: (terms) =>
    hasTerms(terms, "questions") && isForm(terms.questions)
      ? { kind: "several", parts: terms.questions }
      : null,
  parametersOf: ({ parts }, _, choices) => ({
    groups: groupsOf(parts).map(({ buckets, most }) => ({ buckets, most })),
    choices: identityOfChoices(choices),
  }),
  // People choose central targets, and the analyst's plan keeps them.
  planned: {
    fits: ({ parameters }, { parts }) => areAbout(parameters["groups"] as PlannedGroup[], parts),
    // This device sends answers as they are: no `local_epsilon` randomizes them before.
    types: { ...PLAN_TYPES, honest: isCount, groups: (value) => isList(value, isGroup) },
    // See statistics/counts/counts_plan_rule.py.
    keepsRule: (plan, task) => {
      const parameters = plan.protocol.parameters as unknown as CountsParameters;
      const { groups, honest: needed, report_size: size } = parameters;
      const answers = groups.reduce((all, { most }) => all + most, 0);
      const honest = honestPeople(plan, task, answers);
      if (honest === null || !(Number.isInteger(needed) && needed >= 1 && needed <= honest)) {
        return false;
      }
      const rule = task.plan_rule as PlanRule;
      const noises = groups.map(noiseOf);
      const row = rule.noise.findLastIndex((noise) =>
        groups.every(({ most }, place) => noises[place]! >= noise * Math.sqrt(most)),
      );
      const perPerson =
        groups.reduce((all, { buckets }, place) => all + noises[place]! * buckets, 0) / needed;
      const cap = size - answers;
      return (
        areAllowed(parameters, task.choices, rule.rates[row]) &&
        isPaid(rule, perPerson, cap, 2 * (cap + groups.length), honest)
      );
    },
  },
  draw: ({ answer, level, form, parameters, rng }) => {
    const plan = parameters as unknown as CountsParameters;
    const groups = plan.groups.map((group) => ({
      buckets: group.buckets,
      most: group.most,
      noise: (group.buckets * noiseOf(group)) / plan.honest,
    }));
    const picked = bucketsOf(answer, form.parts, rng);
    return randomizeAnswers(picked, groups, plan.report_size, plan.rates[level]!, rng);
  },
  plainOf: (message) => plainNumber(message as number),
  meaningKind: () => "counted cells",
  meaningOf: (messages, { parts }) => {
    const cells = cellsOf(parts);
    // A message adds to an option's count; dummies are above all of them.
    const buckets = (messages as number[]).map((message) => message / 2);
    const { sent, empty } = timesOf(buckets, cells.length);
    return {
      kind: "counted cells",
      sent: sent.map(([bucket, times]) => ({ cells: cells[bucket]!, times })),
      empty,
    };
  },
};
