// The participant's page: from the link to the form, and from the form to a message.
//
// The answer never leaves the page's memory: the device randomizes and seals it.

import {
  Device,
  DeviceError,
  canSeal,
  formOf,
  loadSurvey,
  readLink,
  refusalOf,
} from "shuffledp-device";

import { askerPart, stepLine } from "./about-survey.js";
import { answerPart, levelPart, linkPart, readForm } from "./form.js";
import { formScreens, missingIn } from "./form-screens.js";
import { leadText } from "./meaning.js";
import { showMessage } from "./sending.js";
import { inLanguage, language, offered, preferred, speak, t } from "./texts.js";
import { Trouble, showTrouble } from "./trouble.js";
import { sureness } from "./words.js";
import { el, say, show } from "./view.js";

const [, TASK] = /\/tasks\/([^/]+)\/take-part$/.exec(location.pathname) ?? [];
const invited = readLink(location.hash.slice(1));
const device = new Device(() => localStorage);

addEventListener("hashchange", () => location.reload());
use(navigator.languages[0] ?? "en");
begin();

async function begin() {
  say(t("asking"));
  let known = null;
  try {
    if (!globalThis.isSecureContext || !crypto.subtle) {
      throw new Trouble(t("insecure"));
    }
    const survey = await loadSurvey(`../${TASK}`);
    const wanted = preferred(survey.task, navigator.languages);
    use(wanted);
    if (location.hash.length > 1 && invited === null) throw new Trouble(t("cut-link"));
    const refusal = refusalOf(survey, invited);
    // Whom to ask is known if the survey is the one of the link.
    if (refusal !== "other-survey") known = inLanguage(survey, wanted);
    if (refusal) throw new DeviceError(refusal);
    if (!(await canSeal(survey))) throw new Trouble(t("old-browser"));
    // The link is in memory: it need not stay in the address bar and the history.
    if (invited) history.replaceState(null, "", location.pathname);
    showForm(survey, wanted);
  } catch (error) {
    showTrouble(t("trouble-title"), error, known);
  }
  say("");
}

/** Shows the page's own texts in a language, or in English. */
function use(wanted) {
  speak(wanted);
  document.documentElement.lang = language();
  document.getElementById("promise").textContent = t("footer");
}

/** Shows the form; returns its screens, or null if there is one alone. */
function showForm(whole, wanted) {
  use(wanted);
  const survey = inLanguage(whole, wanted);
  document.title = survey.task.name;
  const choosing = survey.isChoosing;
  const trouble = el("p", { class: "trouble", role: "alert" });
  const complain = (missing) => showMissing(missing, trouble);
  const make = el("button", { type: "submit" }, t("make"));
  const hint = el("p", { class: "hint" }, choosing ? t("make-hint") : t("make-hint-once"));
  const intro = [
    stepLine(survey, t("step-1")),
    el("h1", { lang: survey.textLanguage, dir: "auto" }, survey.task.question.text),
    el("p", { class: "lead" }, leadText(survey)),
    noticePart(survey),
  ];
  const link = invited ? [] : [linkPart()];
  const end = [trouble, make, hint];
  const form = choosing ? {} : formOf(survey.task);
  const screens =
    form.kind === "several"
      ? formScreens(survey, form, invited, {
          begin: [...intro, levelPart(survey), ...link],
          end,
          complain,
          clear: () => (trouble.textContent = ""),
        })
      : null;
  const submit = (event) => {
    event.preventDefault();
    // Enter in a field does what the button below it does.
    if (screens && !screens.isLast()) return screens.forward();
    trouble.textContent = "";
    let filled;
    const missing = missingIn(() => (filled = readForm(survey, invited)));
    if (missing) return complain(missing);
    make.disabled = true;
    return makeMessage(survey, filled);
  };
  const attributes = { novalidate: true, autocomplete: "off", onsubmit: submit };
  const languages = languagePart(whole, wanted, screens);
  if (screens) show(languages, el("form", attributes, ...screens.parts));
  else {
    const parts = [levelPart(survey), answerPart(survey), ...link, ...end];
    show(languages, ...intro, el("form", attributes, ...parts.filter((part) => part !== null)));
  }
  return screens;
}

/** Shows what is missing, beside the field that it is missing in. */
function showMissing(missing, trouble) {
  const part = document.getElementById(missing.at);
  part.querySelector("legend").after(trouble);
  trouble.textContent = missing.message;
  part.querySelector("input, select").focus();
  part.scrollIntoView();
}

/** Returns who asks, and what for: to be read before the form. */
function noticePart(survey) {
  const { task, textLanguage: lang } = survey;
  const consent = el("dd", { lang, dir: "auto" }, task.notice.consent);
  const part = askerPart(survey);
  part.append(el("dt", {}, t("consent")), consent);
  return part;
}

/** Returns buttons that show the form in another language, with what was filled in. */
function languagePart(survey, shown, screens) {
  const fields = () => [...document.querySelectorAll("form :is(input, select)")];
  const change = (tag) => {
    const filled = fields().map(({ checked, value }) => ({ checked, value }));
    const place = screens?.at();
    const again = showForm(survey, tag);
    fields().forEach((field, place) => {
      Object.assign(field, filled[place]);
      field.dispatchEvent(new Event("change"));
    });
    // A summary is made of what was filled in.
    again?.go(place);
    document.querySelector(`#languages [lang="${tag}"]`).focus();
  };
  const buttons = offered(survey.task).map((tag) =>
    el(
      "button",
      {
        type: "button",
        lang: tag,
        "aria-pressed": String(tag === shown),
        onclick: () => change(tag),
      },
      new Intl.DisplayNames([tag], { type: "language" }).of(tag),
    ),
  );
  return el("nav", { id: "languages", "aria-label": t("language") }, ...buttons);
}

async function makeMessage(survey, { level, answer, invitation }) {
  say(t("drawing"));
  try {
    const report = await device.prepare(survey, invitation, level, answer);
    if (report.isChanged) showChanged(report);
    else showMessage(device, report);
  } catch (error) {
    const isTold = error instanceof DeviceError;
    const title = isTold ? t("trouble-title") : t("trouble-sealed");
    showTrouble(title, isTold ? error : new Trouble(t("not-sealed")), survey);
  }
  say("");
}

/** Says what another answer costs than the one that was sent. */
function showChanged(report) {
  const { survey, level } = report;
  const sure = sureness(survey.task.choices[level]);
  show(
    stepLine(survey, t("step-1")),
    el("h1", {}, t("changed-title")),
    el("p", { class: "lead", id: "changed" }, t("changed-text", { sure })),
    el("p", {}, t("changed-leave")),
    el("button", { type: "button", onclick: () => showMessage(device, report) }, t("changed-accept")),
  );
}
