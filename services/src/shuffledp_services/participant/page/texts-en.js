// What the page says in English. Other catalogs have the same names.

export const ENGLISH = Object.freeze({
  language: "Language",
  percent: "{number}%",
  footer:
    "No cookies, no tracking, nothing stored on this device but what you save. What " +
    "leaves it is the one sealed message that you see before.",

  asking: "Asking for the question …",
  drawing: "Drawing and sealing your message …",
  sending: "Sending …",

  "who-asks": "Who asks",
  contact: "How to reach them",
  consent: "What you agree to by sending",

  "part-1": "Part 1 · {step}",
  "part-2": "Part 2 · {step}",
  "step-1": "Step 1 of 2",
  "step-2": "Step 2 of 2",
  done: "Done",

  "lead-choice":
    "This survey has two parts. First, you choose how private you want to be. Later, " +
    "the same link asks the question above. Remember your level: nothing is stored here.",
  "lead-items":
    "Chance decides on this device which of your answers are sent, and adds others to " +
    "them. Choose the same level as in the first part.",
  "lead-mean":
    "Your message says one end of the range, not your number. Chance decides on this " +
    "device which one; your number makes the closer end more likely. You choose how much.",
  "lead-grid":
    "Chance decides on this device whether your message says your number, rounded to one of " +
    "a few, or any other of them. You choose how much it may tell.",
  "lead-several":
    "Your message names several answers. Chance decides on this device which ones; yours " +
    "is more likely to be among them. You choose how much.",
  "lead-one":
    "Chance decides on this device whether your message says what you answer, or something " +
    "else. You choose how much it may tell.",

  "level-question": "How much could anyone learn about you?",
  "level-hint":
    "Imagine a person who reads your message, and who asks a yes-or-no question about your " +
    "answer. Before, yes and no were equally likely to them: 50%. After, they can be",
  "level-hint-central":
    "Imagine a person who studies all messages after they were mixed, and who asks a " +
    "yes-or-no question about your answer. Before, yes and no were equally likely to them: 50%. " +
    "After, except in rare cases, they can be",
  "sure-before": "at most ",
  "sure-after": " sure",
  "scale-low": "50%, a guess",
  "scale-high": "100%, certain",
  "in-numbers": "The same in numbers",
  "column-level": "Level",
  "column-local": "Epsilon of your message",
  "column-central": "Epsilon after mixing",
  "numbers-hint":
    "After mixing, at delta = {delta}: a promise about what is handed on, which counts on " +
    "enough people taking part. Until there are enough, nothing is handed on.",
  "level-only": "The level of this survey",
  "level-first": "Most private",
  "level-last": "Most helpful",
  "level-middle": "In between",
  "level-step": "Step {place} of {count}",

  answer: "Your answer",
  answers: "Your answers, up to {most}",
  "question-of": "Question {place} of {count}",
  back: "Back",
  next: "Next",
  "to-summary": "Back to all answers",
  "summary-title": "Your answers",
  change: "Change",
  "change-answer": "Change: {question}",
  "cost-title": "What each answer costs",
  "cost-all":
    "Nothing on its own: your level covers all {count} answers together. Once your message is " +
    "mixed with all others, and except in rare cases, a reader can be at most {sure} sure of a " +
    "yes-or-no fact about any of them, or about all of them. A question that you leave out " +
    "costs as much: messages are equally long.",
  "cost-together": "These are counted together as well, at the same cost:",
  skip: "I would rather not say",
  "skip-hint": "That is as private as any number: chance hides who left it out.",
  "no-answer": "No answer",
  yes: "Yes",
  no: "No",
  "number-label": "A number from {low} to {high}",
  "category-label": "One of {count}",
  choose: "Choose",
  "items-count": "{count} of at most {most} chosen",
  link: "Your link",
  "link-label": "Paste the whole link that you were given.",
  "missing-level": "Choose a level first.",
  "missing-answer": "Choose an answer first.",
  "missing-part": "Choose an answer here, or “I would rather not say”.",
  "missing-link": "This is no complete link: copy all of it, to its very end.",
  "missing-number": "Write a number from {low} to {high}.",
  "missing-number-or-skip":
    "Write a number from {low} to {high}, or choose “I would rather not say”.",
  "missing-separator": "Write the number without a sign between thousands.",
  "missing-items": "Choose at most {most} answers.",
  make: "Make my message",
  "make-hint": "You see the message before it is sent.",
  "make-hint-once":
    "You see the message before it is sent. Chance is drawn once: the same answer always " +
    "gives the same message.",

  "message-title": "This is what would be sent",
  "at-most-sure": "At most {sure} sure",
  "high-end": "{number}, the high end",
  "low-end": "{number}, the low end",
  "no-answers": "None of the answers",
  "and-more": "and {count} more",
  times: "{name}, {count} times",
  "one-empty": "1 empty part",
  counter: "{text} counter {group}.{bucket}",
  empty: "{count} empty parts",
  "about-choice": "This is the level that you chose, as it is. It is counted without a name.",
  "about-items":
    "Your message may hold some of your answers, none or others: chance put it together. " +
    "Empty parts make all messages equally long. Once it is mixed with all others, and except " +
    "in rare cases, a reader can be at most {sure} sure of a yes-or-no fact about your answers " +
    "that was as likely as not before. This holds if the two below do not work together.",
  "about-counters":
    "Counters are what numbers are counted in: the survey's terms say which numbers each one " +
    "stands for.",
  "about-one":
    "Your message may differ from your answer: chance decided. A person who sees it can be at " +
    "most {sure} sure of a yes-or-no fact about your answer that was as likely as not " +
    "before, even if all others work together.",
  "about-several":
    "Your message names several answers, and may leave out yours: chance decided. A " +
    "person who sees it can be at most {sure} sure of a yes-or-no fact about your answer " +
    "that was as likely as not before, even if all others work together.",
  "about-end":
    "Every message says one of the two ends of the range. From many of them, the average " +
    "of the answers can be worked out.",
  "about-grid":
    "Every message says one of a few numbers of the range. From many of them, the average " +
    "of the answers can be worked out.",
  "who-sees": "Who sees what",
  collector: "The server that collects",
  "collector-sees": "your code, your network address; the message only sealed",
  "collector-sees-level":
    "your code, your level ({sure}), your network address; the message only sealed",
  analyst: "Who analyzes",
  "analyst-sees": "the message, mixed with all others; not whose it is",
  "analyst-sees-level":
    "the message and its level, mixed with all others of that level; not whose it is",
  send: "Send this message",
  "send-again": "Send it again",
  "same-again": "{trouble} Send the same message again.",
  "send-hint":
    "Send it whatever it says. Leaving because of what it says would tell something, too.",
  bytes: "The bytes that leave this device",
  "bytes-hint":
    "{count} bytes: what they are for, your code, and the sealed message. SHA-256 of the " +
    "survey, the same for all participants:",
  "bytes-hint-level":
    "{count} bytes: what they are for, your code, your level, and the sealed message. " +
    "SHA-256 of the survey, the same for all participants:",

  arrived: "Thank you. Your message has arrived.",
  "arrived-perhaps": "Thank you. Your message seems to have arrived.",
  "receipt-checked":
    "The server confirmed it with a signed receipt, and the signature is right.",
  "receipt-unchecked":
    "The server confirmed it with a receipt. This browser cannot check its signature.",
  "receipt-lost":
    "The server already has a message with your code: most likely your first try, whose " +
    "answer got lost.",
  "keep-title": "A receipt, if you want one",
  "keep-why":
    "With it you can check later that your message was among those the result was computed " +
    "from: shuffledp device check. It does not hold your answer, your level or your code.",
  keep: "Save the receipt",
  "keep-hint":
    "A person who finds it knows that you took part. Nothing is lost if you do not keep it.",
  later: "Keep your link, and remember your level: the question itself comes next.",
  close:
    "You can close this page. This browser keeps a secret number and that you took part, so " +
    "that it never says more than once; not your answer.",

  "changed-title": "You sent another answer before",
  "changed-text":
    "It may have been recorded, whatever the server said. If you send this one, too, both " +
    "tell of you: a person who sees this message learns once more as much as your level " +
    "allows, and can be surer than {sure} of what both agree on.",
  "changed-leave": "To leave it at your first answer, close this page.",
  "changed-accept": "Send another answer all the same",
  "sent-elsewhere":
    "Another answer was sent with this link meanwhile. Nothing was sent now. Open your link " +
    "again.",
  "epochs-over":
    "You took part in as many rounds of this survey as were agreed on. Nothing was sent.",
  "other-keys":
    "You took part in this round before its keys were replaced, and are not asked a second " +
    "time. Nothing was sent.",
  "other-plan":
    "The server shows another plan than when you took part. Nothing was sent. Tell the " +
    "person who invited you.",
  "no-storage":
    "This browser keeps nothing for this page, so that it could not send the same message " +
    "again. Allow it to store data, or open your link in another browser.",

  "trouble-title": "Taking part is not possible now",
  "trouble-sealed": "Your message could not be sealed",
  "trouble-refused": "Your message was not taken",
  "not-sealed": "Nothing was sent. Open your link again, or in another browser.",
  insecure: "This page needs a secure connection: its address begins with https.",
  "cut-link":
    "Your link is not whole, so that this page cannot tell which survey it belongs to. Nothing " +
    "was sent. Copy all of it, up to its last letter.",
  "other-survey":
    "This server shows another survey than your link invites you to. Nothing was sent. Tell " +
    "the person who invited you.",
  "other-epoch":
    "Your link is for another round of the survey than the one that is open. Nothing was " +
    "sent. Open your newest link, or come back later.",
  "old-browser": "This browser is too old to seal messages. Open your link in another.",
  "unknown-survey": "This page does not know this kind of survey.",
  "unknown-suite":
    "This survey seals its messages in a way (X-Wing) that this page does not support. You " +
    "can take part with the shuffledp program instead.",
  "no-plan": "This survey's plan is not published yet. Come back later.",
  "unknown-plan": "This page does not know this kind of plan.",
  "no-signatures":
    "This browser cannot check signatures, and this survey needs that: open your link in a newer one.",
  "foreign-plan":
    "This survey's plan is not signed by those who ask, or is meant for another survey. Nothing was sent.",
  "unsafe-plan":
    "This survey's plan does not keep what was promised. Nothing was sent.",
  "wrong-receipt":
    "The server's receipt is not what the survey promises: your message may not count.",
  unreachable: "The survey's server could not be reached.",
  unexpected: "Something unexpected happened.",
  refused: "The survey's server did not take the message.",
  "refused-because": "The survey's server did not take the message. ({title}.)",
  "token-spent":
    "This link was used before. Every link counts once, so this message was not taken. If it " +
    "was you who used it, your message has already arrived: there is nothing left to do.",
  "token-forged":
    "This link does not belong to this round of the survey. Open the newest link you were " +
    "given, or ask the person who invited you for a new one.",
  "not-open": "This round of the survey is closed, and takes no more messages.",
  "not-begun":
    "This round of the survey has not begun yet. Keep your link, and open it again later.",
  "wrong-epoch":
    "Another round of the survey has begun since you opened this page. Open your newest " +
    "link again.",
  "wrong-stage":
    "The survey has moved on to its next step since you opened this page. Open your link " +
    "again.",
  "storage-full": "The survey's server has no room left at the moment. Try again later.",
  "unknown-task": "This survey is not known here. Check that the link is complete.",
});
