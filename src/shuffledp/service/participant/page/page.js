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
import { Trouble, isCentral, load, namesSeveral, send } from "./survey.js";
import { Stage } from "./wire.js";
import { refusalText, sureness } from "./words.js";
import { details, el, say, show } from "./view.js";

const [, TASK] = /\/tasks\/([^/]+)\/take-part$/.exec(location.pathname) ?? [];
const token = tokenOf(location.hash.slice(1));
const invited = taskOf(location.hash);

addEventListener("hashchange", () => location.reload());
begin();

async function begin() {
  say("Asking for the question …");
  try {
    if (!globalThis.isSecureContext || !crypto.subtle) {
      throw new Trouble("This page needs a secure connection: its address begins with https.");
    }
    const survey = await load(`../${TASK}`);
    if (invited !== null && invited !== survey.fingerprint) {
      throw new Trouble(
        "This server shows another survey than your link invites you to. Nothing was sent.",
      );
    }
    document.title = survey.task.name;
    if (survey.phase !== "open") throw new Trouble("", { problem: { type: "not-open" } });
    if (!(await canSeal(survey.analystKey))) {
      throw new Trouble("This browser is too old to seal messages. Open your link in another.");
    }
    // The code is in memory: it need not stay in the address bar and the history.
    if (token) history.replaceState(null, "", location.pathname);
    showForm(survey);
  } catch (error) {
    showTrouble("Taking part is not possible now", error);
  }
  say("");
}

function kicker(survey, step) {
  const two = isCentral(survey);
  const part = two ? `Part ${survey.step.stage === Stage.choice ? 1 : 2} · ` : "";
  return el("p", { class: "kicker" }, survey.task.name, el("span", {}, `${part}${step}`));
}

function showForm(survey) {
  const choosing = survey.step.stage === Stage.choice;
  const trouble = el("p", { class: "trouble", role: "alert" });
  const make = el("button", { type: "submit" }, "Make my message");
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
    kicker(survey, "Step 1 of 2"),
    el("h1", {}, survey.task.question.text),
    el("p", { class: "lead" }, leadText(survey)),
    el(
      "form",
      { novalidate: true, autocomplete: "off", onsubmit: submit },
      levelPart(survey),
      answerPart(survey),
      token ? null : tokenPart(),
      trouble,
      make,
      el(
        "p",
        { class: "hint" },
        choosing
          ? "You see the message before it is sent."
          : "You see the message before it is sent. Chance is drawn once: after that, the " +
              "answer cannot be changed.",
      ),
    ),
  );
}

function leadText(survey) {
  if (survey.step.stage === Stage.choice) {
    return (
      "This survey has two parts. First, everybody says how private she wants to be. Later, " +
      "the same link asks the question above. Remember your level: nothing is stored here."
    );
  }
  if (survey.task.question.statistic === "items") {
    return (
      "Chance decides on this device which of your answers are sent, and adds others to " +
      "them. Choose the same level as in the first part."
    );
  }
  if (survey.task.question.statistic === "mean") {
    return (
      "Your message says one end of the range, not your number. Chance decides on this " +
      "device which one; your number makes the closer end more likely. You choose how much."
    );
  }
  if (namesSeveral(survey)) {
    return (
      "Your message names several answers. Chance decides on this device which ones; yours " +
      "is more likely to be among them. You choose how much."
    );
  }
  return (
    "Chance decides on this device whether your message says what you answer, or something " +
    "else. You choose how much it may tell."
  );
}

async function makeMessage(survey, { level, answer, token: code }) {
  say("Drawing and sealing your message …");
  try {
    const numbers = draw(survey, level, answer, new Rng());
    const body = await pack(survey, level, numbers, code);
    showMessage(survey, level, describe(survey, numbers), body);
  } catch {
    // No second draw is offered here either.
    showTrouble(
      "Your message could not be sealed",
      new Trouble("Nothing was sent. Open your link again, or in another browser."),
    );
  }
  say("");
}

function showMessage(survey, level, lines, body) {
  addEventListener("beforeunload", keepOpen);
  const trouble = el("p", { class: "trouble", role: "alert" });
  const button = el("button", { type: "button" }, "Send this message");
  let tries = 0;
  button.addEventListener("click", async () => {
    button.disabled = true;
    trouble.textContent = "";
    say("Sending …");
    tries += 1;
    try {
      const checked = await send("reports", survey, body);
      showDone(survey, checked);
    } catch (error) {
      const spent = error.problem?.type === "urn:shuffledp:problem:token-spent";
      if (spent && tries > 1) {
        showDone(survey, null);
      } else if (error.retry) {
        trouble.textContent = `${whatWentWrong(error)} Send the same message again.`;
        button.textContent = "Send it again";
        button.disabled = false;
        button.focus();
      } else {
        showTrouble("Your message was not taken", error);
      }
    }
    say("");
  });
  show(
    kicker(survey, "Step 2 of 2"),
    el("h2", {}, "This is what would be sent"),
    el(
      "div",
      { class: "message", id: "message" },
      lines.length === 1
        ? el("p", {}, lines[0])
        : el("ul", {}, ...lines.map((line) => el("li", {}, line))),
    ),
    ...messageTexts(survey, level).map((text) => el("p", {}, text)),
    el("h3", {}, "Who sees what"),
    whoSees(survey, level),
    trouble,
    button,
    el(
      "p",
      { class: "hint" },
      "Send it whatever it says. Leaving because of what it says would tell something, too.",
    ),
    details(
      "The bytes that leave this device",
      el("p", { class: "bytes" }, hex(body)),
      el(
        "p",
        { class: "hint" },
        `${body.length} bytes: what they are for, your code, ` +
          `${namesLevel(survey) ? "your level, " : ""}and the sealed message. SHA-256 of the ` +
          "survey, the same for everybody:",
      ),
      el("p", { class: "bytes", id: "fingerprint" }, survey.fingerprint),
    ),
  );
}

function messageTexts(survey, level) {
  const { question, choices } = survey.task;
  const sure = sureness(choices[level]);
  if (survey.step.stage === Stage.choice) {
    return ["This is the level that you chose, as it is. It is counted without a name."];
  }
  if (question.statistic === "items") {
    return [
      "Your message may hold some of your answers, none or others: chance put it together. " +
        `Mixed with everybody's, it makes nobody more than ${sure} sure of a yes-or-no ` +
        "fact about your answers that she found as likely as not before. This counts on the " +
        "two below not working together.",
    ];
  }
  const end =
    question.statistic === "mean"
      ? [
          "It is always one end of the range. From many such messages, the average of the " +
            "answers can be worked out.",
        ]
      : [];
  const drawn = namesSeveral(survey)
    ? "Your message names several answers, and may leave out yours: chance decided."
    : "Your message may differ from your answer: chance decided.";
  return [
    `${drawn} Whoever sees it can be at most ${sure} sure of a yes-or-no fact about your ` +
      "answer that she found as likely as not before, even if all others work together.",
    ...end,
  ];
}

function whoSees(survey, level) {
  const sure = sureness(survey.task.choices[level]);
  const linked = survey.task.question.mode === "stratified";
  const named = namesLevel(survey) ? `, your level (${sure})` : "";
  return el(
    "dl",
    {},
    el("dt", {}, "The server that collects"),
    el("dd", {}, `your code${named}, your network address; the message only sealed`),
    el("dt", {}, "Who analyzes"),
    el(
      "dd",
      {},
      `the message${linked ? " and its level" : ""}, mixed with those of everybody` +
        `${linked ? " at that level" : ""}; not whose it is`,
    ),
  );
}

function namesLevel(survey) {
  return !isCentral(survey);
}

function showDone(survey, checked) {
  removeEventListener("beforeunload", keepOpen);
  const receipts = {
    true: "The server confirmed it with a signed receipt, and the signature is right.",
    false:
      "The server confirmed it with a receipt. This browser cannot check its signature.",
    null:
      "The server already has a message with your code: most likely your first try, whose " +
      "answer got lost.",
  };
  const arrived = checked === null ? "seems to have arrived" : "has arrived";
  const later =
    survey.step.stage === Stage.choice
      ? el("p", {}, "Keep your link, and remember your level: the question itself comes next.")
      : null;
  show(
    kicker(survey, "Done"),
    el("h2", { class: "done" }, `Thank you. Your message ${arrived}.`),
    el("p", { id: "receipt" }, receipts[checked]),
    later,
    el("p", {}, "You can close this page. Nothing of it stays on this device."),
  );
}

function showTrouble(title, error) {
  removeEventListener("beforeunload", keepOpen);
  show(el("h1", {}, title), el("p", { class: "lead", id: "trouble" }, whatWentWrong(error)));
}

function whatWentWrong(error) {
  if (error.problem) return refusalText(error.problem);
  return error instanceof Trouble ? error.message : "Something unexpected happened.";
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
