// Bytes of messages, contexts, uploads and receipts: those of spec/vectors.

import assert from "node:assert/strict";
import { test } from "node:test";

import { sha256, utf8 } from "../dist/bytes.js";
import { messageInfo, UNLINKED, SEALING_SIZE, plainNumber, upload } from "../dist/message-bytes.js";
import { answerNumbers, draw, meaningKind, meaningOf, pack, plainOf } from "../dist/message.js";
import { canonical, parse } from "../dist/json.js";
import { streamContext, streamWords, withStream } from "../dist/permanent-randomness.js";
import { readReceipt } from "../dist/receipt.js";
import { SUITE, canSealFor, seal } from "../dist/sealing.js";
import { readSurvey } from "../dist/survey.js";
import { MESSAGES, STREAMS, WIRE, WIRE_TEXT, base64, bytes, caseNamed, hex, refused, seeded, signed, spelled } from "./vectors.mjs";

const NO_PLAN = "00".repeat(32);

async function open(sealed, info) {
  const recipientKey = await SUITE.kem.importKey("raw", bytes(MESSAGES.private_key), false);
  const enc = sealed.slice(0, 32);
  const context = await SUITE.createRecipientContext({ recipientKey, enc, info });
  return new Uint8Array(await context.open(sealed.slice(32)));
}

for (const entry of MESSAGES.cases) {
  test(`${entry.name}: contexts, messages and uploads have their bytes`, async () => {
    const survey = await readSurvey(entry.served);
    const { step, taskId } = survey;
    const isLinked = survey.task.question.mode === "stratified";
    const level = isLinked ? entry.choice_position : UNLINKED;

    assert.equal(canonical(parse(entry.served).task), entry.canonical_task);
    assert.equal(hex(step.taskDigest), entry.task_digest);
    assert.equal(hex(step.planDigest), entry.plan_digest ?? NO_PLAN);
    assert.deepEqual([step.epoch, step.stage], [entry.epoch, entry.stage]);
    assert.equal(hex(messageInfo(step, level)), entry.info);
    const plain = entry.numbers.map((message) => plainOf(survey, message));
    assert.deepEqual(plain.map(hex), entry.plain);
    const sealed = entry.sealed.map(bytes);
    const body = upload(step, taskId, bytes(entry.token), entry.choice_named, sealed);
    assert.equal(hex(body), entry.upload);
  });

  test(`${entry.name}: messages that were sealed elsewhere open`, async () => {
    for (const [place, sealed] of entry.sealed.entries()) {
      const opened = await open(bytes(sealed), bytes(entry.info));

      assert.equal(hex(opened), entry.plain[place]);
    }
  });

  test(`${entry.name}: sealing with known entropy gives known bytes`, async () => {
    const sender = await SUITE.createSenderContext({
      recipientPublicKey: await SUITE.kem.deserializePublicKey(bytes(MESSAGES.public_key)),
      info: bytes(entry.info),
      ekm: bytes(entry.ephemeral_material),
    });

    const ciphertext = await sender.seal(bytes(entry.plain[0]));

    const sealed = hex(sender.enc) + hex(ciphertext);
    assert.equal(sealed, entry.sealed_with_material);
  });

  test(`${entry.name}: what is packed opens, and nowhere else`, async () => {
    const survey = await readSurvey(entry.served);

    const body = await pack(survey, entry.choice_position, entry.numbers, bytes(entry.token));

    assert.equal(body.length, entry.upload.length / 2);
    assert.equal(hex(body.slice(0, 60)), entry.upload.slice(0, 120));
    for (const [place, message] of entry.plain.entries()) {
      const size = message.length / 2 + SEALING_SIZE;
      const sealed = body.slice(60 + place * size, 60 + (place + 1) * size);
      assert.equal(hex(await open(sealed, bytes(entry.info))), message);
      const other = bytes(entry.info);
      other[20] ^= 1;
      await assert.rejects(open(sealed, other));
    }
  });

  test(`${entry.name}: a receipt counts for its own upload alone`, async () => {
    const survey = await readSurvey(entry.served);
    const body = bytes(entry.upload);
    const count = entry.plain.length;
    const changed = body.with(-1, body.at(-1) ^ 1);
    const other = entry.receipt.replace('"messages":"', '"messages":"A');
    const forged = entry.receipt.replace('"accepted":1', '"accepted":1.0');
    const wrong = refused("wrong-receipt");

    const { isVerified, text } = await readReceipt(entry.receipt, survey, body, count);

    assert.equal(isVerified, true);
    const kept = JSON.parse(text);
    assert.equal(kept.task, survey.fingerprint);
    assert.deepEqual(kept.receipt, JSON.parse(entry.receipt));
    assert.equal(kept.messages.length, count);
    await assert.rejects(readReceipt(entry.receipt, survey, changed, count), wrong);
    for (const each of [other, forged, "{}", "<p>", "null", `${entry.receipt}{}`]) {
      await assert.rejects(readReceipt(each, survey, body, count), wrong);
    }
  });
}

test("a receipt that the shuffler signed for something else is refused", async () => {
  const entry = caseNamed("items, answers");
  const survey = await readSurvey(entry.served);
  const count = entry.plain.length;
  const { signature, ...receipt } = parse(entry.receipt);
  const key = bytes(MESSAGES.items_signing_keys.shuffler_signing_key);
  const read = (change) =>
    readReceipt(canonical(signed("receipt", { ...receipt, ...change }, key)), survey, bytes(entry.upload), count);

  assert.equal((await read({})).isVerified, true);
  for (const change of [
    { epoch: spelled(4) },
    { stage: spelled(1) },
    { accepted: spelled(0) },
    { accepted: spelled(2) },
    { refused: [[spelled(0), "token-spent"]] },
    { plan: "0".repeat(64) },
    { task: "A".repeat(43) },
    { more: null },
  ]) {
    await assert.rejects(read(change), refused("wrong-receipt"), JSON.stringify(change));
  }
});

test("the wire's own vector has its context, plain message and upload", () => {
  const { step, message, token, upload: stored, task } = WIRE;
  const own = {
    taskDigest: base64(task.digest),
    planDigest: new Uint8Array(32),
    epoch: step.epoch,
    stage: step.stage,
  };

  assert.equal(hex(messageInfo(own, UNLINKED)), hex(base64(step.info.whole)));
  assert.equal(hex(plainNumber(message.number)), hex(base64(message.plain)));
  const taskId = base64(stored.header.task_id);
  const body = upload(own, taskId, base64(token.whole), stored.choice, [base64(message.sealed)]);
  assert.equal(hex(body), hex(base64(stored.whole)));
});

test("the wire's own vector is sealed with its key, and has the digest of its plan", async () => {
  const { keys, message, step } = WIRE;
  const info = base64(step.info.whole);
  const recipientPublicKey = await SUITE.kem.deserializePublicKey(base64(keys.analyst_public_key));
  const privateKey = await SUITE.kem.importKey("raw", base64(message.ephemeral_private_key), false);
  const publicKey = await SUITE.kem.deserializePublicKey(base64(message.enc));

  const sender = await SUITE.createSenderContext({
    recipientPublicKey,
    info,
    ekm: { privateKey, publicKey },
  });

  const ciphertext = await sender.seal(base64(message.plain));
  assert.equal(hex(sender.enc) + hex(ciphertext), hex(base64(message.sealed)));
  const { value } = parse(WIRE_TEXT).plan;
  assert.equal(canonical(value), WIRE.plan.text);
  assert.equal(hex(await sha256(utf8(canonical(value)))), hex(base64(WIRE.plan.digest)));
});

test("uploads of another form are not written", () => {
  const step = { taskDigest: bytes(NO_PLAN), planDigest: bytes(NO_PLAN), epoch: 1, stage: 0 };
  const [id, token, message] = [new Uint8Array(16), new Uint8Array(32), new Uint8Array(9)];

  assert.throws(() => upload(step, token, token, 0, [message]), RangeError);
  assert.throws(() => upload(step, id, id, 0, [message]), RangeError);
  assert.throws(() => upload(step, id, token, 0, []), RangeError);
  assert.throws(() => upload(step, id, token, 0, [message, id]), RangeError);
  assert.throws(() => upload(step, id, token, 65536, [message]), RangeError);
  assert.throws(() => upload({ ...step, epoch: 2 ** 32 }, id, token, 0, [message]), RangeError);
});

test("sealing twice gives other bytes", async () => {
  const message = plainNumber(1);
  const key = bytes(MESSAGES.public_key);

  const [one, other] = await seal(key, bytes("00"), [message, message]);

  assert.notEqual(hex(one), hex(other));
  assert.equal(await canSealFor(key), true);
  assert.equal(await canSealFor(key.slice(1)), false);
});

for (const entry of STREAMS) {
  test(`${entry.case}: permanent randomness is that of Python`, async () => {
    const { step } = await readSurvey(caseNamed(entry.case).served);

    // Null stands for a number that was skipped.
    const answer = entry.answer.map((number) => number ?? NaN);

    const context = await streamContext(step, bytes(entry.link_secret), entry.level, answer);
    const words = await streamWords(bytes(entry.device_secret), context, entry.words.length);

    assert.equal(hex(context), entry.context);
    assert.deepEqual(words.map((word) => word.toString(16).padStart(16, "0")), entry.words);
  });
}

test("the same answer is the same message, however long its stream is", async () => {
  const [{ device_secret: device, context }] = STREAMS;
  const many = (rng) => Array.from({ length: 9_000 }, () => rng.below(1000));
  const drawn = () => withStream(bytes(device), bytes(context), many);

  const [first, again] = [await drawn(), await drawn()];
  const short = await withStream(bytes(device), bytes(context), (rng) => rng.below(1000));
  const other = await withStream(bytes(context), bytes(context), many);

  assert.deepEqual(first, again);
  assert.equal(short, first[0]);
  assert.notDeepEqual(first, other);
});

test("what fails while it draws fails at once", async () => {
  const failing = () => {
    throw new RangeError("Expected one of the answers.");
  };

  await assert.rejects(withStream(new Uint8Array(32), new Uint8Array(32), failing), RangeError);
});

test("answers are numbers that do not depend on the order of clicks", () => {
  assert.deepEqual(answerNumbers([10, 2, 9]), [2, 9, 10]);
  assert.deepEqual(answerNumbers({ picked: [10, 2], numbers: [5, 1] }), [2, 10, 5, 1]);
  assert.deepEqual(answerNumbers(3), [3]);
  assert.ok(Object.is(answerNumbers(-0)[0], 0));
  assert.deepEqual(answerNumbers(null), []);
});

const ANSWERS = { "counts, numbers": [2, 5, 44, 35] };

test("each message has a meaning, of the kind that is announced", async () => {
  const meanings = new Map();
  for (const entry of MESSAGES.cases) {
    const survey = await readSurvey(entry.served);
    const answer = ANSWERS[entry.name] ?? [/^(items|counts)/.test(entry.name) ? 0 : 1];
    const drawn = draw(survey, entry.choice_position, answer, seeded(1));
    assert.equal(drawn.length, entry.numbers.length);
    if (survey.isChoosing) continue;
    const { kind, ...meaning } = meaningOf(survey.task, entry.numbers);
    assert.equal(kind, meaningKind(survey.task));
    meanings.set(entry.name, meaning);
  }

  assert.deepEqual(meanings.get("frequency, agnostic"), { options: [2] });
  assert.deepEqual(meanings.get("frequency, subset-selection"), { options: [0, 7, 10] });
  // Of rows 1 to 11, those that have an even number of ones in common with 1101.
  assert.deepEqual(meanings.get("frequency, hadamard-response"), { options: [1, 4, 6, 8, 10] });
  assert.deepEqual(meanings.get("sum"), { isYes: false });
  assert.deepEqual(meanings.get("mean"), { isHigh: true });
  // 8 of 11 steps from -40 to 10.5.
  assert.ok(Math.abs(meanings.get("mean, grid-response").number - (-40 + (8 * 50.5) / 11)) < 1e-12);
  const once = (option) => ({ option, times: 1 });
  assert.deepEqual(meanings.get("items, answers"), { sent: [once(1), once(3)], empty: 22 });
  const cell = (question, bucket, times) => ({ cells: [{ question, group: question, bucket }], times });
  assert.deepEqual(meanings.get("counts, answers"), {
    sent: [cell(0, 1, 2), cell(1, 1, 1), cell(2, 1, 1)],
    empty: 16,
  });
  assert.deepEqual(meanings.get("counts, numbers").sent.slice(0, 3), [
    { cells: [{ question: 0, group: 0, bucket: 2 }], times: 1 },
    { cells: [{ question: 1, group: 1, bucket: 0 }], times: 1 },
    { cells: [{ question: 1, group: 2, bucket: 2 }], times: 1 },
  ]);
});

test("the position of no choice is refused", async () => {
  const survey = await readSurvey(caseNamed("frequency, agnostic").served);

  for (const level of [-1, 3, 0.5, NaN, undefined]) {
    assert.throws(() => draw(survey, level, [1], seeded(1)), RangeError);
  }
});
