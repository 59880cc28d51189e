// One bit: about a number in a range, or about yes and no, which are 1 and 0.

import { randomizeNumber } from "../randomize.js";
import { t } from "../texts.js";
import { plainMessage } from "../wire.js";
import { asText } from "../words.js";

const YES_OR_NO = { kind: "yes or no", low: 0, high: 1 };

export const oneBit = {
  name: "one-bit",
  formOf: ({ low, high }) => (low === undefined ? YES_OR_NO : { kind: "number", low, high }),
  agrees: ({ mechanism }, terms = {}) =>
    (terms.mechanism ?? mechanism) === mechanism && terms.values === undefined,
  draw: ({ form, answer, epsilon, rng }) => [
    randomizeNumber(answer[0], form.low, form.high, epsilon, rng),
  ],
  plainOf: plainMessage,
  describe: ([bit], { kind, low, high }) => {
    if (kind === "yes or no") return [bit ? t("yes") : t("no")];
    return bit ? [t("high-end", { number: asText(high) })] : [t("low-end", { number: asText(low) })];
  },
  lead: ({ kind }) => (kind === "number" ? t("lead-mean") : t("lead-one")),
  about: ({ kind }, sure) => [
    ...(kind === "number" ? [t("about-end")] : []),
    t("about-one", { sure }),
  ],
};
