// Views of the message before it is sent, of its arrival, and of its receipt.

import { stepLine } from "./about-survey.js";
import { describe } from "./message.js";
import { formOf, mechanismOf } from "./mechanisms/catalog.js";
import { isCentral, keptReceipt, send } from "./survey.js";
import { t } from "./texts.js";
import { showTrouble, whatWentWrong } from "./trouble.js";
import { Stage } from "./wire.js";
import { sureness } from "./words.js";
import { askBeforeLeaving, details, el, say, show } from "./view.js";

/**
 * Shows a message, and sends it when asked to.
 *
 * @param numbers Drawn messages.
 * @param body Bytes of the upload.
 * @param remembered Called before anything is sent, to record the answer.
 */
export function showMessage(survey, level, numbers, body, remembered) {
  const lines = describe(survey, numbers);
  askBeforeLeaving(true);
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
      await remembered();
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
    stepLine(survey, t("step-2")),
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

/** Returns sentences about the information of the message on the answer. */
function messageTexts(survey, level) {
  const { step, task } = survey;
  const sure = sureness(task.choices[level]);
  if (step.stage === Stage.choice) return [t("about-choice")];
  return mechanismOf(task).about(formOf(task), sure);
}

/** Returns a list of who sees what. */
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
  askBeforeLeaving(false);
  const receipts = {
    true: t("receipt-checked"),
    false: t("receipt-unchecked"),
    null: t("receipt-lost"),
  };
  show(
    stepLine(survey, t("done")),
    el("h1", { class: "done" }, checked === null ? t("arrived-perhaps") : t("arrived")),
    el("p", { id: "receipt" }, receipts[checked]),
    survey.step.stage === Stage.choice ? el("p", {}, t("later")) : null,
    kept && receiptPart(survey, kept),
    el("p", {}, t("close")),
  );
}

/** Returns a link that saves the receipt, and a text that says why to save it. */
function receiptPart(survey, kept) {
  const file = new Blob([kept], { type: "application/json" });
  const name = `receipt-${survey.task.task_id}-${survey.step.epoch}.json`;
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

/** Returns the bytes as hexadecimal digits. */
function hex(bytes) {
  // Sets of items are long, and their encrypted bytes look alike.
  const shown = bytes.slice(0, 256);
  const text = [...shown].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return bytes.length > shown.length ? `${text} …` : text;
}
