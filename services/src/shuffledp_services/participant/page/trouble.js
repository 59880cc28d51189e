// View of an error.

import { askerPart } from "./about-survey.js";
import { Trouble } from "./survey.js";
import { t } from "./texts.js";
import { refusalText } from "./words.js";
import { askBeforeLeaving, el, show } from "./view.js";

/** Shows an error, and whom to ask if the survey is the one of the link. */
export function showTrouble(title, error, survey) {
  askBeforeLeaving(false);
  document.title = title;
  show(
    el("h1", {}, title),
    el("p", { class: "lead", id: "trouble" }, whatWentWrong(error)),
    survey && askerPart(survey),
  );
}

/** Returns the text of an error for participants. */
export function whatWentWrong(error) {
  if (error.problem) return refusalText(error.problem);
  return error instanceof Trouble ? error.message : t("unexpected");
}
