// The participant's page: a form, the message that chance made of the answer, a receipt.
//
// The answer never leaves this file's memory. A message is drawn once: whoever could draw
// again until she likes the result, or take the answer back after seeing it, would tell
// more than her level allows.

import {
  Missing,
  answerPart,
  levelPart,
  readForm,
  taskOf,
  tokenOf,
  tokenPart,
} from "./form.js";
import { describe, draw, pack } from "./message.js";
import { Rng } from "./randomize.js";
import { canSeal } from "./seal.js";
import { Trouble, isCentral, keptReceipt, load, namesSeveral, send } from "./survey.js";
import { inLanguage, language, offered, preferred, speak, t } from "./texts.js";
import { Stage } from "./wire.js";
import { refusalText, sureness } from "./words.js";
import { details, el, say, show } from "./view.js";

const [, TASK] = /\/tasks\/([^/]+)\/take-part$/.exec(location.pathname) ?? [];
const token = tokenOf(location.hash.slice(1));
const invited = taskOf(location.hash);

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
    if (invited !== null && invited !== survey.fingerprint) {
      throw new Trouble(t("other-survey"));
    }
    // Whom to ask is known from here on.
    known = inLanguage(survey, wanted);
    if (survey.phase !== "open") throw new Trouble("", { problem: { type: "not-open" } });
    if (!survey.begun) throw new Trouble(t("not-begun"));
    if (!(await canSeal(survey.analystKey))) {
      throw new Trouble(t("old-browser"));
    }
    // The code is in memory: it need not stay in the address bar and the history.
    if (token) history.replaceState(null, "", location.pathname);
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

function kicker(survey, step) {
  const part = survey.step.stage === Stage.choice ? "part-1" : "part-2";
  const { name } = survey.task;
  return el(
    "p",
    { class: "kicker" },
    el("strong", { lang: survey.textLanguage, dir: "auto" }, name),
    el("span", {}, isCentral(survey) ? t(part, { step }) : step),
  );
}

function showForm(whole, wanted) {
  use(wanted);
  const survey = inLanguage(whole, wanted);
  document.title = survey.task.name;
  const choosing = survey.step.stage === Stage.choice;
  const trouble = el("p", { class: "trouble", role: "alert" });
  const make = el("button", { type: "submit" }, t("make"));
  const submit = (event) => {
    event.preventDefault();
    trouble.textContent = "";
    let filled;
    try {
      filled = readForm(survey, token);
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      const part = document.getElementById(error.at);
      part.querySelector("legend").after(trouble);
      trouble.textContent = error.message;
      part.querySelector("input, select").focus();
      part.scrollIntoView();
      return;
    }
    make.disabled = true;
    makeMessage(survey, filled);
  };
  show(
    languagePart(whole, wanted),
    kicker(survey, t("step-1")),
    el("h1", { lang: survey.textLanguage, dir: "auto" }, survey.task.question.text),
    el("p", { class: "lead" }, leadText(survey)),
    noticePart(survey),
    el(
      "form",
      { novalidate: true, autocomplete: "off", onsubmit: submit },
      levelPart(survey),
      answerPart(survey),
      token ? null : tokenPart(),
      trouble,
      make,
      el("p", { class: "hint" }, choosing ? t("make-hint") : t("make-hint-once")),
    ),
  );
}

function leadText(survey) {
  if (survey.step.stage === Stage.choice) return t("lead-choice");
  if (survey.task.question.statistic === "items") return t("lead-items");
  if (survey.task.question.statistic === "mean") return t("lead-mean");
  return namesSeveral(survey) ? t("lead-several") : t("lead-one");
}

/** Returns who asks, and what for: to be read before the form. */
function noticePart(survey) {
  const { task, textLanguage: lang } = survey;
  const consent = el("dd", { lang, dir: "auto" }, task.notice.consent);
  const part = askerPart(survey);
  part.append(el("dt", {}, t("consent")), consent);
  return part;
}

/** Returns who asks, and how to reach them. */
function askerPart({ task: { notice }, textLanguage: lang }) {
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

/** Returns buttons that show the form in another language, with what was filled in. */
function languagePart(survey, shown) {
  const fields = () => [...document.querySelectorAll("form :is(input, select)")];
  const change = (tag) => {
    const filled = fields().map(({ checked, value }) => ({ checked, value }));
    showForm(survey, tag);
    fields().forEach((field, place) => {
      Object.assign(field, filled[place]);
      field.dispatchEvent(new Event("change"));
    });
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

async function makeMessage(survey, { level, answer, token: code }) {
  say(t("drawing"));
  try {
    const numbers = draw(survey, level, answer, new Rng());
    const body = await pack(survey, level, numbers, code);
    showMessage(survey, level, numbers, body);
  } catch {
    // No second draw is offered here either.
    showTrouble(t("trouble-sealed"), new Trouble(t("not-sealed")), survey);
  }
  say("");
}

function showMessage(survey, level, numbers, body) {
  const lines = describe(survey, numbers);
  addEventListener("beforeunload", keepOpen);
  const trouble = el("p", { class: "trouble", role: "alert" });
  const button = el("button", { type: "button" }, t("send"));
  let tries = 0;
  button.addEventListener("click", async () => {
    button.disabled = true;
    trouble.textContent = "";
    say(t("sending"));
    tries += 1;
    try {
      const count = numbers.length;
      const { checked, receipt } = await send("reports", survey, body, count);
      showDone(survey, checked, await keptReceipt(receipt, survey, body, count));
    } catch (error) {
      const there = error.problem?.type === "urn:shuffledp:problem:message-repeated";
      if (there && tries > 1) {
        showDone(survey, null, null);
      } else if (error.retry) {
        trouble.textContent = t("same-again", { trouble: whatWentWrong(error) });
        button.textContent = t("send-again");
        button.disabled = false;
        button.focus();
      } else {
        showTrouble(t("trouble-refused"), error, survey);
      }
    }
    say("");
  });
  show(
    kicker(survey, t("step-2")),
    el("h1", {}, t("message-title")),
    el(
      "div",
      { class: "message", id: "message" },
      lines.length === 1
        ? el("p", {}, lines[0])
        : el("ul", {}, ...lines.map((line) => el("li", {}, line))),
    ),
    ...messageTexts(survey, level).map((text) => el("p", {}, text)),
    el("h2", {}, t("who-sees")),
    whoSees(survey, level),
    trouble,
    button,
    el("p", { class: "hint" }, t("send-hint")),
    details(
      t("bytes"),
      el("p", { class: "bytes" }, hex(body)),
      el(
        "p",
        { class: "hint" },
        isCentral(survey)
          ? t("bytes-hint", { count: body.length })
          : t("bytes-hint-level", { count: body.length }),
      ),
      el("p", { class: "bytes", id: "fingerprint" }, survey.fingerprint),
    ),
  );
}

function messageTexts(survey, level) {
  const { question, choices } = survey.task;
  const sure = sureness(choices[level]);
  if (survey.step.stage === Stage.choice) return [t("about-choice")];
  if (question.statistic === "items") return [t("about-items", { sure })];
  const drawn = namesSeveral(survey) ? t("about-several", { sure }) : t("about-one", { sure });
  return question.statistic === "mean" ? [t("about-end"), drawn] : [drawn];
}

function whoSees(survey, level) {
  const sure = sureness(survey.task.choices[level]);
  const linked = survey.task.question.mode === "stratified";
  return el(
    "dl",
    {},
    el("dt", {}, t("collector")),
    el("dd", {}, isCentral(survey) ? t("collector-sees") : t("collector-sees-level", { sure })),
    el("dt", {}, t("analyst")),
    el("dd", {}, linked ? t("analyst-sees-level") : t("analyst-sees")),
  );
}

function showDone(survey, checked, kept) {
  removeEventListener("beforeunload", keepOpen);
  const receipts = {
    true: t("receipt-checked"),
    false: t("receipt-unchecked"),
    null: t("receipt-lost"),
  };
  const later =
    survey.step.stage === Stage.choice
      ? el("p", {}, t("later"))
      : null;
  show(
    kicker(survey, t("done")),
    el("h1", { class: "done" }, checked === null ? t("arrived-perhaps") : t("arrived")),
    el("p", { id: "receipt" }, receipts[checked]),
    later,
    kept && receiptPart(survey, kept),
    el("p", {}, t("close")),
  );
}

/** Returns a link that saves the receipt, and what it is good for. */
function receiptPart(survey, kept) {
  const file = new Blob([kept], { type: "application/json" });
  const name = `receipt-${TASK}-${survey.step.epoch}.json`;
  const link = { class: "button", href: URL.createObjectURL(file), download: name };
  return el(
    "section",
    { id: "keep" },
    el("h2", {}, t("keep-title")),
    el("p", {}, t("keep-why")),
    el("p", {}, el("a", link, t("keep"))),
    el("p", { class: "hint" }, t("keep-hint")),
  );
}

/** Says what is wrong; and whom to ask, where the survey is the one of the link. */
function showTrouble(title, error, survey) {
  removeEventListener("beforeunload", keepOpen);
  document.title = title;
  show(
    el("h1", {}, title),
    el("p", { class: "lead", id: "trouble" }, whatWentWrong(error)),
    survey && askerPart(survey),
  );
}

function whatWentWrong(error) {
  if (error.problem) return refusalText(error.problem);
  return error instanceof Trouble ? error.message : t("unexpected");
}

function keepOpen(event) {
  event.preventDefault();
}

function hex(bytes) {
  // Sets of items are long; their beginning shows as much as the rest.
  const shown = bytes.slice(0, 256);
  const text = [...shown].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return bytes.length > shown.length ? `${text} …` : text;
}
