// What a device refuses: every input of spec/vectors/refusals.json that a device reads.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fromText, toText } from "../dist/bytes.js";
import { canonical, parse, plain } from "../dist/json.js";
import { readLink } from "../dist/link.js";
import { isSigned } from "../dist/signing.js";
import { readTask } from "../dist/task-format.js";
import { readSurvey } from "../dist/survey.js";
import { hasMembers } from "../dist/value-checks.js";
import { seal } from "../dist/sealing.js";
import { readReceipt } from "../dist/receipt.js";
import { REFUSALS, TARGETS, WIRE, WIRE_TEXT, X_WING, base64, hex, plannedWith, refused } from "./vectors.mjs";

const inputs = (what) => REFUSALS.inputs.filter((entry) => entry.what === what);
const statusOf = (task, rest = {}) =>
  `{"task":${task},"epoch":7,"stage":"answer","phase":"open","plan":null,"enrolment":{},${JSON.stringify(rest).slice(1)}`.replace(",}", "}");

test("JSON is read as all parties read it", () => {
  const { text, floats } = WIRE.canonical;

  assert.equal(canonical(parse(WIRE_TEXT).canonical.value), text);
  for (const [bits, letters] of floats) {
    const number = Buffer.from(bits, "hex").readDoubleBE();
    assert.deepEqual(plain(parse(`{"a":${letters}}`)).a, number);
    assert.equal(canonical(parse(`{"a":${letters}}`)), `{"a":${letters}}`);
  }
  const odd = '{"b":[1.0,1e-06,-0.5,1e+16,12],"a":"1.0 \\"2\\" n3","s":"\\u0001","n":null,"t":[true,{}]}';
  assert.equal(
    canonical(parse(odd)),
    '{"a":"1.0 \\"2\\" n3","b":[1.0,1e-06,-0.5,1e+16,12],"n":null,"s":"\\u0001","t":[true,{}]}',
  );
  assert.deepEqual(plain(parse(odd)), JSON.parse(odd));
  assert.throws(() => parse('{"a":01}'));
});

for (const { mistake, input } of inputs("json")) {
  test(`no JSON: ${mistake}`, () => {
    assert.throws(() => parse(input), SyntaxError);
  });
}

for (const { mistake, input } of inputs("one byte")) {
  test(`no byte: ${mistake}`, () => {
    assert.equal(fromText(input, 1), null);
  });
}

test("base64url has one spelling", () => {
  assert.deepEqual([...fromText("_-8", 2)], [0xff, 0xef]);
  assert.equal(toText(Uint8Array.of(0xff, 0xef)), "_-8");
  for (const text of ["_-9", "_-8=", "/-8", "_-", "_-8A", "", null, 8]) {
    assert.equal(fromText(text, 2), null);
  }
});

test("the link of the vectors is read whole", () => {
  const { text, token, secret, epoch, task } = WIRE.link;

  const link = readLink(` ${text}\n`);

  assert.equal(hex(link.token), hex(base64(token)));
  assert.equal(hex(link.secret), hex(base64(secret)));
  assert.deepEqual([link.epoch, link.task], [epoch, task]);
  assert.deepEqual(readLink(text.replace(/^.*#/, "")), link);
  for (const wrong of ["", token, text.slice(0, -1), `${text}&more=1`]) {
    assert.equal(readLink(wrong), null);
  }
});

for (const { mistake, input } of inputs("link")) {
  test(`no link: ${mistake}`, () => {
    assert.equal(readLink(input), null);
  });
}

test("the task of the vectors is a survey with its digest", async () => {
  const survey = await readSurvey(statusOf(WIRE.task.text));

  assert.equal(survey.fingerprint, WIRE.task.fingerprint);
  assert.deepEqual([survey.isOpen, survey.hasBegun, survey.isChoosing], [true, true, false]);
  assert.notEqual(readTask(parse(WIRE.task.text)), null);
});

for (const { mistake, input } of [...inputs("task"), ...inputs("task of a form")]) {
  test(`no task: ${mistake}`, async () => {
    const code = mistake === "an unknown suite" ? "unknown-suite" : "unknown-survey";

    await assert.rejects(readSurvey(statusOf(input)), refused(code));
  });
}

test("the task of a form is read once its options have labels of their own", () => {
  const [{ input }] = inputs("task of a form");

  assert.equal(readTask(parse(input)), null);
  assert.notEqual(readTask(parse(input.replace('["bus","car"]', '["tram","car"]'))), null);
});

test("a plan with a target without people is followed", async () => {
  const { task, plan } = TARGETS;
  const status = `{"task":${task},"epoch":7,"stage":"answer","phase":"open","plan":${plan},"enrolment":{}}`;

  const survey = await readSurvey(status);

  assert.deepEqual(JSON.parse(plan).counts, [10, 0, 30]);
  assert.deepEqual([survey.isOpen, survey.isChoosing], [true, false]);
});

test("a task of the suite x-wing is refused as such", async () => {
  await assert.rejects(readSurvey(statusOf(X_WING.task)), refused("unknown-suite"));
});

for (const change of [{ epoch: 0 }, { epoch: 2 ** 32 }, { epoch: 1.5 }, { epoch: null }, { stage: "choice" }, { stage: "end" }]) {
  test(`no step: ${JSON.stringify(change)}`, async () => {
    const status = { ...JSON.parse(statusOf("null")), ...change };
    const text = JSON.stringify(status).replace('"task":null', `"task":${WIRE.task.text}`);

    await assert.rejects(readSurvey(text), refused("unknown-survey"));
  });
}

test("two names in one are no two members", async () => {
  const joined = WIRE.task.text.replace(/"succeeds":null,"suite":/, '"succeeds,suite":');

  assert.notEqual(joined, WIRE.task.text);
  await assert.rejects(readSurvey(statusOf(joined)), refused("unknown-survey"));
  assert.equal(hasMembers({ "a,b": null }, "a", "b"), false);
  assert.equal(hasMembers({ a: null, b: null }, "a", "b"), true);
});

test("what is no status is no survey", async () => {
  for (const text of ["", "null", "[]", "<p>", "{}", '{"task":null}', '{"task":{"suite":"x25519"}}']) {
    await assert.rejects(readSurvey(text), refused("unknown-survey"), text);
  }
});

for (const { mistake, input } of inputs("plan of epoch 3")) {
  test(`no plan: ${mistake}`, async () => {
    const task = REFUSALS.planned_task;
    const status = `{"task":${task},"epoch":3,"stage":"answer","phase":"open","plan":${input},"enrolment":{}}`;

    await assert.rejects(readSurvey(status), ({ name, code }) => {
      assert.equal(name, "DeviceError");
      return ["no-plan", "foreign-plan", "unknown-plan", "unsafe-plan"].includes(code);
    });
  });
}

for (const { mistake, input } of inputs("receipt")) {
  test(`no receipt: ${mistake}`, async () => {
    const survey = await readSurvey(statusOf(WIRE.task.text));
    const body = base64(WIRE.upload.whole);

    await assert.rejects(readReceipt(input, survey, body, 1), refused("wrong-receipt"));
  });
}

test("the shuffler signed the receipt of the vectors", async () => {
  const receipt = parse(JSON.stringify(WIRE.receipt));
  const { shuffler_signing_key: key } = JSON.parse(WIRE.task.text);

  assert.equal(await isSigned("receipt", receipt, base64(key)), true);
  assert.equal(await isSigned("plan", receipt, base64(key)), false);
  assert.equal(await isSigned("receipt", { ...receipt, signature: "AA" }, base64(key)), false);
  assert.equal(await isSigned("receipt", receipt, null), false);
});

for (const { mistake, input } of inputs("key to seal for")) {
  test(`no key to seal for: ${mistake}`, async () => {
    await assert.rejects(seal(base64(input), new Uint8Array(), [new Uint8Array(9)]));
  });
}

test("an environment without Ed25519 takes no part where people choose targets", async () => {
  const { importKey } = crypto.subtle;
  const planned = plannedWith(() => {});
  crypto.subtle.importKey = async () => {
    throw new DOMException("Unrecognized name.", "NotSupportedError");
  };
  try {
    await assert.rejects(readSurvey(planned), refused("no-signatures"));
    await readSurvey(statusOf(WIRE.task.text));
  } finally {
    crypto.subtle.importKey = importKey;
  }
});
