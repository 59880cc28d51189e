// A device as a program uses it: what it stores, sends, and refuses to send.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Device, DeviceError, ERROR_CODES, loadSurvey, readSurvey } from "shuffledp-device";

import { hex, toText, concat, sha256 } from "../dist/bytes.js";
import { DeviceState } from "../dist/device-state.js";
import { canonical } from "../dist/json.js";
import { messageHashes } from "../dist/message-bytes.js";
import { MESSAGES, bytes, caseNamed, memory, refused, signed, spelled } from "./vectors.mjs";

const URL_OF_TASK = "https://shuffler.example/tasks/a";

/** Returns an open survey of three epochs, and a link to it. */
async function surveyAndLink(change = {}) {
  const read = await readSurvey(caseNamed("frequency, agnostic").served, URL_OF_TASK);
  const { shuffler_signing_key } = JSON.parse(caseNamed("items, answers").served).task;
  const terms = { shuffler_signing_key, allowance: [2.5, 2.5, 2.5], promise: [1, 1, 1] };
  const task = { ...read.task, ...terms };
  const { epoch = read.step.epoch, fingerprint = read.fingerprint, planDigest } = change;
  const step = { ...read.step, epoch, planDigest: planDigest ?? read.step.planDigest };
  const survey = { ...read, task, step, fingerprint, isOpen: true, hasBegun: true };
  const link = { token: new Uint8Array(32), secret: new Uint8Array(32), epoch, task: fingerprint };
  return { survey, link };
}

/** Answers requests by a function while another one runs; returns the requests. */
async function withShuffler(answer, run) {
  const { fetch } = globalThis;
  const requests = [];
  globalThis.fetch = async (url, options) => {
    requests.push({ url, ...options });
    return answer(options);
  };
  try {
    await run();
  } finally {
    globalThis.fetch = fetch;
  }
  return requests;
}

const problem = (kind, status) =>
  new Response(JSON.stringify({ type: `urn:shuffledp:problem:${kind}`, title: "T" }), { status });

test("an answer is prepared, recorded, sent once, and its receipt is checked", async () => {
  const { survey, link } = await surveyAndLink();
  const { texts, storage } = memory();
  const key = bytes(MESSAGES.items_signing_keys.shuffler_signing_key);
  const accept = async ({ body }) => {
    assert.equal(texts.size, 2, "Recorded before it is sent.");
    const hashes = await messageHashes(body, 1);
    const receipt = {
      task: toText(survey.step.taskDigest),
      epoch: spelled(survey.step.epoch),
      stage: spelled(0),
      messages: toText(await sha256(concat(...hashes))),
      accepted: spelled(1),
      refused: [],
    };
    return new Response(canonical(signed("receipt", receipt, key)));
  };
  const device = new Device(storage);
  const report = await device.prepare(survey, link, 1, 2);

  const requests = await withShuffler(accept, async () => {
    const receipt = await device.send(report);
    assert.equal(receipt.isVerified, true);
    assert.equal(JSON.parse(receipt.text).task, survey.fingerprint);
  });

  const [request] = requests;
  assert.equal(requests.length, 1);
  assert.equal(request.url, `${URL_OF_TASK}/reports`);
  assert.deepEqual([request.method, request.credentials, request.redirect], ["POST", "omit", "error"]);
  assert.equal(request.headers["Content-Type"], "application/vnd.shuffledp.reports");
  assert.equal(request.body, report.body);
});

test("the same answer is the same message on the same device, and drawn anew on another", async () => {
  const { survey, link } = await surveyAndLink();
  const [one, other] = [memory(), memory()];
  const messages = async (device) => {
    const all = [];
    for (let answer = 0; answer < 3; answer += 1) {
      all.push((await device.prepare(survey, link, 0, answer)).messages[0]);
    }
    return all.join();
  };

  const drawn = await messages(new Device(one.storage));

  assert.equal(await messages(new Device(one.storage)), drawn);
  const others = [];
  for (let time = 0; time < 9; time += 1) others.push(await messages(new Device(memory().storage)));
  // At epsilon 0.1 all nine are the same once in 10^12 runs.
  assert.ok(others.some((each) => each !== drawn));
  assert.equal(other.texts.size, 0);
});

test("errors of the shuffler tell whether sending again may help", async () => {
  const { survey, link } = await surveyAndLink();
  const device = new Device(memory().storage);
  const report = await device.prepare(survey, link, 1, 2);
  const cases = [
    [() => problem("storage-full", 507), "refused", true],
    [() => problem("token-spent", 409), "refused", false],
    [() => new Response("null", { status: 500 }), "refused", true],
    [() => new Response("<p>", { status: 404 }), "refused", false],
    [() => Promise.reject(new TypeError("network")), "unreachable", true],
    [() => new Response("{}"), "wrong-receipt", false],
  ];

  for (const [answer, code, retry] of cases) {
    await withShuffler(answer, () =>
      assert.rejects(device.send(report), { name: "DeviceError", code, retry }),
    );
  }
  await withShuffler(cases[1][0], () =>
    assert.rejects(device.send(report), ({ problem: { type } }) => type.endsWith(":token-spent")),
  );
});

test("a survey is loaded from its address", async () => {
  const { served } = caseNamed("sum");

  const requests = await withShuffler(
    () => new Response(served),
    async () => assert.equal((await loadSurvey(URL_OF_TASK)).url, URL_OF_TASK),
  );

  assert.deepEqual([requests[0].url, requests[0].credentials], [URL_OF_TASK, "omit"]);
  await withShuffler(
    () => problem("not-found", 404),
    () => assert.rejects(loadSurvey(URL_OF_TASK), refused("refused")),
  );
});

test("another answer is sent only if its participant accepts the cost", async () => {
  const { survey, link } = await surveyAndLink();
  const device = new Device(memory().storage);
  const send = async (answer, options) => {
    const report = await device.prepare(survey, link, 1, answer);
    const requests = await withShuffler(
      () => problem("storage-full", 507),
      () => assert.rejects(device.send(report, options), DeviceError),
    );
    return [report.isChanged, requests.length];
  };

  assert.deepEqual(await send(1), [false, 1]);
  assert.deepEqual(await send(1), [false, 1]);
  assert.deepEqual(await send(2), [true, 0]);
  assert.deepEqual(await send(2, { acceptChange: true }), [true, 1]);
  assert.deepEqual(await send(2), [false, 1]);
});

test("nothing is prepared for another survey or epoch, or outside of one", async () => {
  const { survey, link } = await surveyAndLink();
  const { texts, storage } = memory();
  const device = new Device(storage);
  const cases = {
    "other-survey": [survey, { ...link, task: "0".repeat(64) }],
    "other-epoch": [survey, { ...link, epoch: 9 }],
    "not-open": [{ ...survey, isOpen: false }, link],
    "not-begun": [{ ...survey, hasBegun: false }, link],
  };

  for (const [code, [own, linked]] of Object.entries(cases)) {
    await assert.rejects(device.prepare(own, linked, 1, 1), refused(code));
  }
  assert.equal(texts.size, 0);
  for (const [level, answer] of [[3, 1], [1, 3], [1, -1], [1, null], [1, ["1"]], [1, NaN]]) {
    await assert.rejects(device.prepare(survey, link, level, answer), RangeError);
  }
});

test("a target is chosen without an answer, and questions are answered with one", async () => {
  const { served } = caseNamed("items, targets");
  const survey = { ...(await readSurvey(served)), isOpen: true, hasBegun: true };
  const link = {
    token: new Uint8Array(32),
    secret: new Uint8Array(32),
    epoch: survey.step.epoch,
    task: survey.fingerprint,
  };
  const device = new Device(memory().storage);

  assert.deepEqual((await device.prepare(survey, link, 2, null)).messages, [2]);
  await assert.rejects(device.prepare(survey, link, 2, [0, 1]), RangeError);
});

test("a report that was changed, or is of another device, is not sent", async () => {
  const { survey, link } = await surveyAndLink();
  const device = new Device(memory().storage);
  const report = await device.prepare(survey, link, 1, 2);

  await assert.rejects(device.send({ ...report }), TypeError);
  await assert.rejects(new Device(memory().storage).send(report), TypeError);
});

test("a device that keeps nothing takes no part", async () => {
  const { survey, link } = await surveyAndLink();
  const broken = () => {
    throw new Error("SecurityError");
  };
  const forgetful = () => ({ getItem: () => null, setItem: () => {} });

  for (const storage of [broken, forgetful]) {
    await assert.rejects(new Device(storage).prepare(survey, link, 1, 1), refused("no-storage"));
  }
  // Its memory was emptied, or another tab drew a secret, since this message was drawn.
  const { texts, storage } = memory();
  const device = new Device(storage);
  const report = await device.prepare(survey, link, 1, 1);
  texts.clear();
  await assert.rejects(device.send(report), refused("no-storage"));
});

const pending = (secret, token = 7, answer = 1) => ({
  secret,
  token: new Uint8Array(32).fill(token),
  context: new Uint8Array(32).fill(answer),
});

test("neither tokens nor answers can be read from what is stored", async () => {
  const { survey } = await surveyAndLink();
  const { texts, storage } = memory();
  const state = new DeviceState(storage);
  const own = pending(state.secret());

  await state.record(survey, own, false);

  assert.deepEqual(state.secret(), own.secret);
  assert.equal(await state.isChanged(survey, pending(own.secret, 7, 2)), true);
  assert.equal(await state.isChanged(survey, pending(own.secret, 8, 2)), false);
  const all = [...texts.values()].join();
  for (const hidden of [own.token, own.context]) {
    assert.ok(!all.includes(toText(hidden)) && !all.includes(hex(hidden)));
  }
});

test("no more epochs than agreed on, no other plan, and no other keys in one epoch", async () => {
  const state = new DeviceState(memory().storage);
  const secret = state.secret();
  const record = async (change) => {
    const { survey } = await surveyAndLink(change);
    await state.record(survey, pending(secret), false);
  };

  await record({ epoch: 1 });
  const planDigest = new Uint8Array(32).fill(1);
  await assert.rejects(record({ epoch: 1, planDigest }), refused("other-plan"));
  await assert.rejects(record({ epoch: 1, fingerprint: "0".repeat(64) }), refused("other-keys"));
  await record({ epoch: 4 });
  await record({ epoch: 1 });
  await assert.rejects(record({ epoch: 2 }), refused("epochs-over"));
});

test("every reason is a sentence", () => {
  assert.ok(ERROR_CODES.length > 15);
  for (const code of ERROR_CODES) assert.match(new DeviceError(code).message, /^Expected .*\.$/);
});
