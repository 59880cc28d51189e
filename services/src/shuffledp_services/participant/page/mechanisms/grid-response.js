// k-ary response about a number, which is rounded to one of the numbers of a grid.

import { gridNumber, randomizeOnGrid } from "../randomize.js";
import { t } from "../texts.js";
import { plainMessage } from "../wire.js";
import { asText } from "../words.js";

export const gridResponse = {
  name: "grid-response",
  formOf: ({ low, high, values }) =>
    Number.isInteger(values) && low < high ? { kind: "number", low, high, values } : null,
  agrees: ({ mechanism, parameters }, terms) =>
    mechanism === terms.mechanism &&
    ["low", "high", "values"].every((name) => parameters.randomizer?.[name] === terms[name]),
  draw: ({ form, answer, epsilon, rng }) => [
    randomizeOnGrid(answer[0], form.low, form.high, form.values, epsilon, rng),
  ],
  plainOf: plainMessage,
  describe: ([point], { low, high, values }) => [asText(gridNumber(point, low, high, values))],
  lead: () => t("lead-grid"),
  about: (form, sure) => [t("about-grid"), t("about-one", { sure })],
};
