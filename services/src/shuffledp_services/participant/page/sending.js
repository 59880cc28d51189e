// Views of the message before it is sent, of its arrival, and of its receipt.

import { hasTargets } from "shuffledp-device";

import { stepLine } from "./about-survey.js";
import { aboutReport, describe } from "./meaning.js";
import { t } from "./texts.js";
import { showTrouble, whatWentWrong } from "./trouble.js";
import { sureness } from "./words.js";
import { askBeforeLeaving, details, el, say, show } from "./view.js";

/** Shows a message of a device, and sends it when asked to. */
export function showMessage(device, report) {
  const { survey, level, body } = report;
  const lines = describe(report);
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
      // People were told before what another answer costs.
      showDone(survey, await device.send(report, { acceptChange: report.isChanged }));
    } catch (error) {
      const there = error.problem?.type === "urn:shuffledp:problem:message-repeated";
      if (there && tries > 1) {
        showDone(survey, null);
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
    ...aboutReport(report).map((text) => el("p", {}, text)),
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
        hasTargets(survey)
          ? t("bytes-hint", { count: body.length })
          : t("bytes-hint-level", { count: body.length }),
      ),
      el("p", { class: "bytes", id: "fingerprint" }, survey.fingerprint),
    ),
  );
}

/** Returns a list of who sees what. */
function whoSees(survey, level) {
  const sure = sureness(survey.task.choices[level]);
  const linked = survey.task.question.mode === "stratified";
  return el(
    "dl",
    {},
    el("dt", {}, t("collector")),
    el("dd", {}, hasTargets(survey) ? t("collector-sees") : t("collector-sees-level", { sure })),
    el("dt", {}, t("analyst")),
    el("dd", {}, linked ? t("analyst-sees-level") : t("analyst-sees")),
  );
}

/** Shows that a message arrived; its receipt is null if it was lost. */
function showDone(survey, receipt) {
  askBeforeLeaving(false);
  show(
    stepLine(survey, t("done")),
    el("h1", { class: "done" }, receipt === null ? t("arrived-perhaps") : t("arrived")),
    el("p", { id: "receipt" }, receiptText(receipt)),
    survey.isChoosing ? el("p", {}, t("later")) : null,
    receipt && receiptPart(survey, receipt.text),
    el("p", {}, t("close")),
  );
}

function receiptText(receipt) {
  if (receipt === null) return t("receipt-lost");
  return receipt.isVerified ? t("receipt-checked") : t("receipt-unchecked");
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
