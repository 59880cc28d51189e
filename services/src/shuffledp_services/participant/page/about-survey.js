// What several screens say about the survey itself.

import { hasTargets } from "shuffledp-device";

import { t } from "./texts.js";
import { el } from "./view.js";

/** Returns a line with the survey's name, and the step that its participant is at. */
export function stepLine(survey, step) {
  const part = survey.isChoosing ? "part-1" : "part-2";
  const { name } = survey.task;
  return el(
    "p",
    { class: "kicker" },
    el("strong", { lang: survey.textLanguage, dir: "auto" }, name),
    el("span", {}, hasTargets(survey) ? t(part, { step }) : step),
  );
}

/** Returns who asks, and how to reach them. */
export function askerPart({ task: { notice }, textLanguage: lang }) {
  const text = { lang, dir: "auto" };
  return el(
    "dl",
    { id: "notice" },
    el("dt", {}, t("who-asks")),
    el("dd", text, notice.asker),
    el("dt", {}, t("contact")),
    el("dd", text, notice.contact),
  );
}
