// A form with numbers that were skipped: the bytes of spec/vectors/skipped.json.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bucketsOf, groupsOf } from "../dist/form-encoding.js";
import { messageInfo, UNLINKED } from "../dist/message-bytes.js";
import { answerNumbers, plainOf } from "../dist/message.js";
import { streamContext, withStream } from "../dist/permanent-randomness.js";
import { SUITE } from "../dist/sealing.js";
import { readSurvey } from "../dist/survey.js";
import { SKIPPED, WIRE, base64, hex } from "./vectors.mjs";

const survey = await readSurvey(SKIPPED.served);
const { questions } = survey.task.question.terms;

async function open(sealed) {
  const recipientKey = await SUITE.kem.importKey("raw", base64(WIRE.keys.analyst_private_key), false);
  const enc = sealed.slice(0, 32);
  const context = await SUITE.createRecipientContext({ recipientKey, enc, info: base64(SKIPPED.info) });
  return new Uint8Array(await context.open(sealed.slice(32)));
}

/** Buckets of each group as they are numbered through all groups, without those left out. */
function numbered(buckets) {
  let first = 0;
  return groupsOf(questions).flatMap((group, place) => {
    first += group.buckets;
    return buckets[place] < group.buckets ? [first - group.buckets + buckets[place]] : [];
  });
}

test("the messages of a form with skips have their context", () => {
  assert.equal(hex(messageInfo(survey.step, UNLINKED)), hex(base64(SKIPPED.info)));
});

for (const report of SKIPPED.reports) {
  const name = JSON.stringify([report.picked, report.numbers]);

  test(`${name}: an answer has its context and its buckets`, async () => {
    const answer = answerNumbers(report);

    const context = await streamContext(survey.step, base64(SKIPPED.link_secret), SKIPPED.choice_position, answer);
    const buckets = await withStream(base64(SKIPPED.device_secret), context, (rng) => bucketsOf(answer, questions, rng));

    assert.equal(hex(context), hex(base64(report.context)));
    assert.deepEqual(buckets, numbered(report.buckets));
  });

  test(`${name}: its messages have their bytes, and open`, async () => {
    const plain = report.entries.map((entry) => hex(plainOf(survey, entry)));
    const opened = await Promise.all(report.sealed.map((sealed) => open(base64(sealed))));

    assert.deepEqual(plain, report.plain.map((each) => hex(base64(each))));
    assert.deepEqual(opened.map(hex), plain);
  });
}
