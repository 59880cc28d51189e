// Errors, and their view.

import { DeviceError } from "shuffledp-device";

import { askerPart } from "./about-survey.js";
import { t } from "./texts.js";
import { refusalText } from "./words.js";
import { askBeforeLeaving, el, show } from "./view.js";

/** Something of the page itself went wrong in a way that is told to people. */
export class Trouble extends Error {}

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
  if (error instanceof Trouble) return error.message;
  if (!(error instanceof DeviceError)) return t("unexpected");
  return error.problem ? refusalText(error.problem) : t(error.code);
}
