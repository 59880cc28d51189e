// The participant's page: from the link to the form, and from the form to a message.
//
// The answer never leaves the page's memory. A message is drawn once, and is the same
// whenever the same answer is given again: people who could draw again until they like the
// result, or were asked again by a server that says it has nothing, would tell more than
// their level allows.

import { askerPart, stepLine } from "./about-survey.js";
import { coinContext, withCoins } from "./coins.js";
import { deviceSecret, isChanged, remember } from "./device.js";
import {
  answerPart,
  invitationOf,
  levelPart,
  linkPart,
  problemOf,
  readForm,
} from "./form.js";
import { formScreens, missingIn } from "./form-screens.js";
import { formOf, mechanismOf } from "./mechanisms/catalog.js";
import { answerNumbers, draw, pack } from "./message.js";
import { canSeal } from "./seal.js";
import { showMessage } from "./sending.js";
import { Trouble, load } from "./survey.js";
import { inLanguage, language, offered, preferred, speak, t } from "./texts.js";
import { showTrouble } from "./trouble.js";
import { Stage } from "./wire.js";
import { sureness } from "./words.js";
import { el, say, show } from "./view.js";

const [, TASK] = /\/tasks\/([^/]+)\/take-part$/.exec(location.pathname) ?? [];
const invited = invitationOf(location.hash.slice(1));
const storage = () => localStorage;

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
    const survey = await load(`../${TASK}`);
    const wanted = preferred(survey.task, navigator.languages);
    use(wanted);
    if (location.hash.length > 1 && invited === null) throw new Trouble(t("cut-link"));
    if (invited !== null && invited.task !== survey.fingerprint) {
      throw new Trouble(t("other-survey"));
    }
    // Whom to ask is known from here on.
    known = inLanguage(survey, wanted);
    if (survey.phase !== "open") throw new Trouble("", { problem: { type: "not-open" } });
    if (!survey.begun) throw new Trouble(t("not-begun"));
    const problem = invited && problemOf(invited, survey);
    if (problem) throw new Trouble(problem);
    if (!(await canSeal(survey.analystKey))) {
      throw new Trouble(t("old-browser"));
    }
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
  const choosing = survey.step.stage === Stage.choice;
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

function leadText(survey) {
  if (survey.step.stage === Stage.choice) return t("lead-choice");
  return mechanismOf(survey.task).lead(formOf(survey.task));
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

async function makeMessage(survey, filled) {
  say(t("drawing"));
  try {
    const { level, invitation } = filled;
    const answer = answerNumbers(filled.answer);
    const secret = deviceSecret(storage);
    const context = await coinContext(survey.step, invitation.secret, level, answer);
    const known = [storage, survey, secret, invitation.token, context];
    const changed = await isChanged(...known);
    if (changed && !filled.changed) {
      showChanged(survey, filled);
    } else {
      const numbers = await withCoins(secret, context, (rng) => draw(survey, level, answer, rng));
      const body = await pack(survey, level, numbers, invitation.token);
      showMessage(survey, level, numbers, body, () => remember(...known, { changed }));
    }
  } catch (error) {
    const told = error instanceof Trouble;
    const title = told ? t("trouble-title") : t("trouble-sealed");
    showTrouble(title, told ? error : new Trouble(t("not-sealed")), survey);
  }
  say("");
}

/** Says what another answer costs than the one that was sent. */
function showChanged(survey, filled) {
  const sure = sureness(survey.task.choices[filled.level]);
  const accept = () => makeMessage(survey, { ...filled, changed: true });
  show(
    stepLine(survey, t("step-1")),
    el("h1", {}, t("changed-title")),
    el("p", { class: "lead", id: "changed" }, t("changed-text", { sure })),
    el("p", {}, t("changed-leave")),
    el("button", { type: "button", onclick: accept }, t("changed-accept")),
  );
}
