// A second reader of receipts and results, written from the specification alone.
//
//     node spec/example/reader.mjs < spec/vectors/refusals.json
//
// Requests are an object with the texts of `task`, of `collection_task` and of its `result`, which only
// lists of messages need, and `inputs`: a list of {what, input}. The answers are a list of {value},
// {refused: kind}, or {unsupported: what} of inputs that this reader does not know. Other requests end
// it with one line, and 2.

import { readFileSync } from "node:fs";

import * as device from "./device.mjs";

const { Refusal, bytes, canonical, digestOf, expect, fingerprint, isObject, isWhole, list, need } = device;
const { number, parse, sha256, toText, whole } = device;

// report.md

/** Returns the hashes of the accepted messages. */
function readKept(line, task) {
  const kept = parse(line);
  expect(kept, "task messages receipt");
  need(kept.messages.length && isObject(kept.receipt));
  const { task: of, messages, numbers, refused } = device.readReceipt(kept.receipt, task);
  need(kept.task === fingerprint(task) && of.equals(task.digest), "unknown-task");
  const hashes = kept.messages.map((each) => bytes(each, 32));
  need(sha256(...hashes).equals(messages), "signature-forged");
  const each = hashes.length / (numbers[2] + refused.length);
  need(numbers[2] && Number.isInteger(each));
  const out = refused.map(([place]) => place.value);
  return hashes.filter((_, place) => !out.includes(Math.floor(place / each))).map(toText);
}

// result.md

function readList(content, digest) {
  const hashes = content.toString("hex").match(/.{64}/g) ?? [];
  const rises = hashes.every((hash, place) => !place || hashes[place - 1] < hash);
  need(rises && content.length === 32 * hashes.length && toText(sha256(content)) === digest, "wrong-size");
  return hashes;
}

const CERTIFICATE =
  "format protocol protocol_digest certified num_users absent rounds coordinates also theorem " +
  "assumptions numerics people people_digest version about levels";

function readLevel(level, solved) {
  const chosen = "target" in level ? "target" : "epsilon_local";
  const numbers = `${chosen} ${solved}_central ${solved}_central_lower delta_coalition slack`;
  expect(level, `${numbers} count hides_among epsilon_coalition rests_on`, "quantile");
  numbers.split(" ").forEach((name) => number(level[name], 0, name === "slack" ? 1 : Infinity));
  [level.count, level.hides_among].forEach(whole);
  need(level.epsilon_coalition === null || number(level.epsilon_coalition) >= 0);
  need(/^(two messages|blanket|items|counts|shuffler|composition|device)$/.test(level.rests_on));
  need(level[`${solved}_central_lower`].value <= level[`${solved}_central`].value);
  return { choice: level[chosen].value, count: level.count.value, central: level[`${solved}_central`].value };
}

function readCertificate(certificate) {
  const given = "delta" in certificate ? "delta" : "epsilon";
  expect(certificate, `${CERTIFICATE} ${given}`);
  const { format, certified, protocol, people, also } = certificate;
  need(format === "shuffledp-guarantee-3" && certified === true);
  need(certificate.protocol_digest === digestOf(protocol).toString("hex"));
  [certificate.num_users, certificate.absent, certificate.rounds, certificate.coordinates].forEach(whole);
  number(certificate[given]);
  const levels = list(certificate.levels, (level) => readLevel(level, given === "delta" ? "epsilon" : "delta"));
  // Further statements are none of what this reader uses: it refuses them all.
  need(levels.length && Array.isArray(also) && !also.length);
  need(levels.every(({ choice }, place) => !place || levels[place - 1].choice <= choice));
  if (people !== null) {
    const pairs = list(people, ([level, count]) => [number(level), whole(count)]);
    need(pairs.every(([level], place) => !place || pairs[place - 1][0] < level));
    need(peopleDigest(pairs) === certificate.people_digest);
  }
  return { levels };
}

function peopleDigest(people) {
  const content = Buffer.alloc(16 * people.length);
  people.forEach(([level, count], place) => {
    content.writeDoubleLE(level, 8 * place);
    content.writeBigInt64LE(BigInt(count), 8 * (people.length + place));
  });
  return sha256(content).toString("hex");
}

const RESULT =
  "task digest epoch batch people spoiled enrolment chosen tally certificate spent statistic mode " +
  "protocol_digest estimate assumptions signature";

function readResult(content, task, epoch) {
  const result = parse(content);
  device.checkSigned("result", result, task.analyst);
  need(result.digest === fingerprint(task) && result.task === toText(task.taskId), "signature-forged");
  need(isWhole(result.epoch) && result.epoch.value === epoch, "signature-forged");
  need(isObject(result.batch));
  bytes(result.batch.messages, 32);
  return result;
}

/** Refuses a result whose statements contradict each other or the task. */
function checkStatements(content, task, epoch) {
  const result = readResult(content, task, epoch);
  expect(result, RESULT);
  const verified = (fact) => need(fact, "not-verified");
  const { certificate, tally, enrolment } = result;
  const people = list(result.people, whole);
  const total = people.reduce((sum, each) => sum + each, 0);
  const { levels } = readCertificate(certificate);
  const roster = device.checkSigned("enrolment", enrolment, task.enroller);
  verified(roster.task === toText(task.digest) && roster.epoch.value === epoch && total <= roster.tokens.value);
  verified(people.length === task.choices.length && people.every((each, place) => each >= task.minimum[place]));
  const counted = list(tally.people[0], whole).reduce((sum, each) => sum + each, 0);
  verified(counted === total - whole(result.spoiled) && result.chosen === null);
  const protocol = canonical(task.protocol);
  verified([tally.protocol, certificate.protocol].every((each) => canonical(each) === protocol));
  verified(result.protocol_digest === digestOf(task.protocol).toString("hex"));
  verified(certificate.delta?.value === task.raw.delta.value && certificate.rounds.value === 1);
  verified(certificate.coordinates.value === 1);
  verified(certificate.absent.value === task.raw.absent.value + result.spoiled.value);
  const pairs = task.choices.map((choice, place) => [choice, people[place]]);
  verified(certificate.people_digest === peopleDigest(pairs));
  verified(`${levels.map(({ choice }) => choice)}` === `${task.choices}`);
  const spent = list(result.spent, (each) => number(each));
  verified(levels.every(({ central }, place) => central === spent[place] && central <= task.promise[place]));
  return { protocol_digest: result.protocol_digest, counts: tally.counts[0][0].map(whole) };
}

// Requests

function stop(reason) {
  console.error(
    `reader.mjs: ${reason}: expected JSON {task, collection_task, inputs: [{what, input}, ...]} on standard ` +
      "input, such as spec/vectors/refusals.json.",
  );
  process.exit(2);
}

/** Returns what a step of reading the requests returns, or stops with a reason. */
function orStop(reason, step) {
  try {
    return step();
  } catch {
    return stop(reason);
  }
}

const given = orStop("no JSON", () => JSON.parse(readFileSync(0, "utf8")));
const taskNamed = (name) => {
  if (typeof given?.[name] !== "string") stop(`no ${name}`);
  return orStop(`no valid ${name}`, () => device.readTask(given[name]));
};
const task = taskNamed("task");
const collected = taskNamed("collection_task");
if (!Array.isArray(given.inputs)) stop("no list of inputs");
const binary = (text) => Buffer.from(text, "base64url");
const ANSWERS = {
  json: (input) => canonical(parse(input)),
  "one byte": (input) => bytes(input, 1)[0],
  task: (input) => {
    const { digest, protocol, epochs } = device.readTask(input);
    return { digest: digest.toString("hex"), protocol_digest: digestOf(protocol).toString("hex"), epochs };
  },
  link: (input) => device.readLink(input).epoch,
  receipt: (input) => device.readReceipt(parse(input), task).refused.length,
  "agreement of the analyst": (input) => device.checkAgreement(parse(input), "analyst", task, task.analyst),
  "key to seal for": (input) => device.seal(bytes(input, 32), Buffer.alloc(0), Buffer.alloc(9)).length,
  "kept receipt": (input) => readKept(input, collected),
  "list of messages": (input) => readList(binary(input), parse(given.result).batch.messages).length,
  result: (input) => readResult(input, collected, 7).epoch.value,
  "statements of a result": (input) => checkStatements(input, collected, 7),
  certificate: (input) => readCertificate(parse(input)).levels,
  "certificate and its people": (input) => readCertificate(parse(input)).levels.length,
  probability: ({ epsilon, categories }) => device.blanket(epsilon, 1 / categories),
  report: ({ link, category, level }) => toText(device.report(task, device.readLink(link), category, level)),
  "receipt of a report": ({ link, upload, receipt }) =>
    device.keep(task, device.readLink(link), binary(upload), parse(receipt)),
};
const FIELDS = ["probability", "report", "receipt of a report"];
const answers = given.inputs.map((entry, place) => {
  const { what, input } = entry ?? {};
  if (!Object.hasOwn(ANSWERS, what) || (what === "list of messages" && typeof given.result !== "string"))
    return { unsupported: what };
  if (input === null || typeof input !== (FIELDS.includes(what) ? "object" : "string"))
    stop(`input ${place + 1} of the wrong kind`);
  try {
    return { value: ANSWERS[what](input) ?? null };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message };
    throw error;
  }
});
console.log(JSON.stringify(answers));
