// The scripts of the participant's page, against vectors that Python checks as well.
//
//     node --test services/tests/service/page.test.mjs
//
// Draws come from the operating system, so that nothing can be fixed: each of the
// thirteen chi-square tests fails by chance once in 10^7 runs.

import assert from "node:assert/strict";
import { createPrivateKey, sign } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";

import {
  coinContext,
  streamWords,
  withCoins,
} from "../../src/shuffledp_services/participant/page/coins.js";
import {
  deviceSecret,
  isChanged,
  remember,
} from "../../src/shuffledp_services/participant/page/device.js";
import {
  bucketsOf,
  groupsOf,
  isForm,
} from "../../src/shuffledp_services/participant/page/form-encoding.js";
import { invitationOf, problemOf } from "../../src/shuffledp_services/participant/page/form.js";
import {
  answerNumbers,
  describe,
  draw,
  pack,
  plainOf,
} from "../../src/shuffledp_services/participant/page/message.js";
import {
  Rng,
  blanketChance,
  columns,
  gridNumber,
  randomizeAnswers,
  randomizeCategory,
  randomizeColumn,
  randomizeItems,
  randomizeNumber,
  randomizeOnGrid,
  randomizeSubset,
  speaksFor,
  stopAndGo,
} from "../../src/shuffledp_services/participant/page/randomize.js";
import { cutProbability } from "../../src/shuffledp_services/participant/page/plan-rule.js";
import { SUITE, seal } from "../../src/shuffledp_services/participant/page/seal.js";
import {
  Trouble,
  checkReceipt,
  read,
} from "../../src/shuffledp_services/participant/page/survey.js";
import { CATALOGS, inLanguage, offered, preferred, speak } from "../../src/shuffledp_services/participant/page/texts.js";
import * as wire from "../../src/shuffledp_services/participant/page/wire.js";
import { asText, refusalText, sureness } from "../../src/shuffledp_services/participant/page/words.js";

const FOLDER = new URL("../../src/shuffledp_services/participant/page/", import.meta.url);
const FILE = new URL("../../../spec/vectors/messages.json", import.meta.url);
const VECTORS = JSON.parse(await readFile(FILE, "utf8"));
const ENCODINGS = JSON.parse(
  await readFile(new URL("../../../spec/vectors/encodings.json", import.meta.url), "utf8"),
);
const NO_PLAN = "00".repeat(32);
// Quantiles of chi-square at 1 - 10^-7, by degrees of freedom.
const LARGEST = { 1: 28.38, 3: 35.41, 4: 38.24, 6: 43.34, 7: 45.7, 9: 50.18 };

const bytes = (text) => Uint8Array.from(Buffer.from(text, "hex"));
const hex = (array) => Buffer.from(array).toString("hex");

async function open(sealed, info) {
  const key = bytes(VECTORS.private_key);
  const recipientKey = await SUITE.kem.importKey("raw", key, false);
  const context = await SUITE.createRecipientContext({
    recipientKey,
    enc: sealed.slice(0, 32),
    info,
  });
  return new Uint8Array(await context.open(sealed.slice(32)));
}

function chiSquare(counts, chances) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.reduce((sum, count, place) => {
    const expected = total * chances[place];
    return sum + (count - expected) ** 2 / expected;
  }, 0);
}

function tally(size, times, drawOne) {
  const counts = new Array(size).fill(0);
  for (let time = 0; time < times; time += 1) counts[drawOne()] += 1;
  return counts;
}

/** A source that gives these words, and then refuses. */
function scripted(...words) {
  return new Rng((array) =>
    array.map(() => {
      assert.ok(words.length, "No more words were expected to be drawn.");
      return words.shift();
    }),
  );
}

for (const entry of VECTORS.cases) {
  test(`${entry.name}: the page writes the bytes that Python writes`, async () => {
    const survey = await read(entry.served);
    const { step, taskId } = survey;
    const linked = survey.task.question.mode === "stratified";
    const level = linked ? entry.choice_position : wire.UNLINKED;

    assert.equal(wire.canonical(wire.parse(entry.served).task), entry.canonical_task);
    assert.equal(hex(step.taskDigest), entry.task_digest);
    assert.equal(hex(step.planDigest), entry.plan_digest ?? NO_PLAN);
    assert.deepEqual([step.epoch, step.stage], [entry.epoch, entry.stage]);
    assert.equal(hex(wire.messageInfo(step, level)), entry.info);
    const plain = entry.numbers.map((message) => plainOf(survey, message));
    assert.deepEqual(plain.map(hex), entry.plain);
    const sealed = entry.sealed.map(bytes);
    const body = wire.upload(step, taskId, bytes(entry.token), entry.choice_named, sealed);
    assert.equal(hex(body), entry.upload);
  });

  test(`${entry.name}: messages that were sealed elsewhere open`, async () => {
    for (const [place, sealed] of entry.sealed.entries()) {
      const opened = await open(bytes(sealed), bytes(entry.info));

      assert.equal(hex(opened), entry.plain[place]);
    }
  });

  test(`${entry.name}: sealing with known entropy gives known bytes`, async () => {
    const key = await SUITE.kem.deserializePublicKey(bytes(VECTORS.public_key));
    const sender = await SUITE.createSenderContext({
      recipientPublicKey: key,
      info: bytes(entry.info),
      ekm: bytes(entry.ephemeral_material),
    });

    const ciphertext = await sender.seal(bytes(entry.plain[0]));

    const sealed = hex(new Uint8Array(sender.enc)) + hex(new Uint8Array(ciphertext));
    assert.equal(sealed, entry.sealed_with_material);
  });

  test(`${entry.name}: what the page packs opens, and nowhere else`, async () => {
    const survey = await read(entry.served);
    const token = bytes(entry.token);

    const body = await pack(survey, entry.choice_position, entry.numbers, token);

    assert.equal(body.length, entry.upload.length / 2);
    assert.equal(hex(body.slice(0, 60)), entry.upload.slice(0, 120));
    for (const [place, message] of entry.plain.entries()) {
      const size = message.length / 2 + wire.SEALING_SIZE;
      const sealed = body.slice(60 + place * size, 60 + (place + 1) * size);
      assert.equal(hex(await open(sealed, bytes(entry.info))), message);
      const other = bytes(entry.info);
      other[20] ^= 1;
      await assert.rejects(open(sealed, other));
    }
  });

  test(`${entry.name}: a receipt counts for its own upload alone`, async () => {
    const survey = await read(entry.served);
    const body = bytes(entry.upload);
    const count = entry.plain.length;
    const changed = body.with(-1, body.at(-1) ^ 1);
    const other = entry.receipt.replace('"messages":"', '"messages":"A');
    const forged = entry.receipt.replace('"accepted":1', '"accepted":1.0');

    assert.equal(await checkReceipt(entry.receipt, survey, body, count), true);
    await assert.rejects(checkReceipt(entry.receipt, survey, changed, count), Trouble);
    for (const text of [other, forged, "{}", "<p>"]) {
      await assert.rejects(checkReceipt(text, survey, body, count), Trouble);
    }
  });
}

test("numbers keep the letters they were written with", () => {
  const text = '{"b":[1.0,1e-06,-0.5,1e+16,12],"a":"1.0 \\"2\\" n3","s":"\\u0001","n":null}';

  const value = wire.parse(text);

  assert.equal(
    wire.canonical(value),
    '{"a":"1.0 \\"2\\" n3","b":[1.0,1e-06,-0.5,1e+16,12],"n":null,"s":"\\u0001"}',
  );
  assert.deepEqual(wire.plain(value), JSON.parse(text));
  assert.throws(() => wire.parse('{"a":01}'));
});

test("base64url has one spelling", () => {
  assert.deepEqual([...wire.fromText("_-8", 2)], [0xff, 0xef]);
  for (const text of ["_-9", "_-8=", "/-8", "_-", "_-8A", "", null, 8]) {
    assert.equal(wire.fromText(text, 2), null);
  }
});

test("surveys that the page cannot answer are refused in words", async () => {
  const { served } = VECTORS.cases.find((entry) => entry.name === "items, answers");
  const plan = /"plan":\{.*\},"people"/;

  await assert.rejects(read(served.replace('"x25519"', '"x-wing"')), Trouble);
  await assert.rejects(read(served.replace(plan, '"plan":null,"people"')), Trouble);
  for (const name of ['"items"', '"poisson-items"']) {
    await assert.rejects(read(served.replace(name, '"median"')), Trouble);
    const [task, rest] = served.split('"plan":');
    await assert.rejects(read(`${task}"plan":${rest.replace(name, '"median"')}`), Trouble);
  }
  const larger = served.replace(plan, (text) => text.replace('"items":4', '"items":5'));
  await assert.rejects(read(larger), Trouble);
  await assert.rejects(read(served.replace(/"version":\d+/, '"version":99')), Trouble);
});

/** Returns a case with its plan changed by `change`, and signed with a key. */
function planned(
  change,
  key = VECTORS.items_signing_keys.analyst_signing_key,
  name = "items, answers",
) {
  const { served } = VECTORS.cases.find((entry) => entry.name === name);
  const raw = wire.parse(served);
  const { signature, ...plan } = raw.plan;
  change(plan, plan.protocol.parameters);
  const seed = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), bytes(key)]);
  const secret = createPrivateKey({ key: seed, format: "der", type: "pkcs8" });
  const said = sign(null, wire.utf8(`shuffledp plan 1\0${wire.canonical(plan)}`), secret);
  return wire.canonical({ ...raw, plan: { ...plan, signature: wire.toText(said) } });
}

const spelled = (number) => new wire.Spelled(String(number));

test("a plan that keeps the rule of its task is followed, one of another rate too", async () => {
  await read(planned(() => {}));
  await read(planned((_, terms) => terms.rates.splice(2, 1, spelled(0.9))));
  await read(planned((plan) => Object.assign(plan, { minimum: spelled(111) })));
});

test("the page refuses every plan that breaks the rule, whoever signed it", async () => {
  const promise = CATALOGS.en["unsafe-plan"];
  const hostile = {
    "everything, no noise": (_, terms) =>
      Object.assign(terms, { rates: ["1.0", "1.0", "1.0"].map(spelled), blanket: spelled("0.0") }),
    "one rate a little larger": (_, terms) => terms.rates.splice(1, 1, spelled(0.589269)),
    "too little noise": (_, terms) => Object.assign(terms, { blanket: spelled(0.538) }),
    "no noise": (_, terms) => Object.assign(terms, { blanket: spelled("0.0") }),
    "negative noise": (_, terms) => Object.assign(terms, { blanket: spelled("-1.0") }),
    "a smaller report": (_, terms) => Object.assign(terms, { report_size: spelled(23) }),
    "fewer people": (plan) => Object.assign(plan, { minimum: spelled(99) }),
    "people in parts": (plan) => Object.assign(plan, { minimum: spelled(110.5) }),
    "coins that are off": (plan, terms) =>
      Object.assign(plan, { minimum: spelled(1e9) }) &&
      Object.assign(terms, { report_size: spelled(4000) }),
    "fewer rates": (_, terms) => terms.rates.pop(),
    "other targets": (_, terms) => terms.targets.splice(0, 1, spelled(0.2)),
    "no rates": (_, terms) => Object.assign(terms, { rates: null }),
  };

  speak("en");
  for (const [name, change] of Object.entries(hostile)) {
    await assert.rejects(read(planned(change)), { message: promise }, name);
  }
});

test("a plan for several questions is followed if it keeps the rule, and no other", async () => {
  const key = VECTORS.items_signing_keys.analyst_signing_key;
  const changed = (change) => read(planned(change, key, "counts, answers"));
  const mean = (number) => (_, { groups }) =>
    Object.assign(groups[1].noise.poisson, { mean: spelled(number) });
  const allowed = {
    "as it is": () => {},
    "a smaller rate": (_, terms) => terms.rates.splice(0, 1, spelled(0.5)),
    "more noise": mean(140),
    "noise of fewer people": (_, terms) => Object.assign(terms, { honest: spelled(990) }),
    "a larger report": (_, terms) => Object.assign(terms, { report_size: spelled(30) }),
  };
  const hostile = {
    "one rate a little larger": (_, terms) => terms.rates.splice(0, 1, spelled(0.5284)),
    "too little noise in one question": mean(123.98),
    "negative noise": mean("-130.0"),
    "endless noise": mean("1e+300"),
    "noise of another kind": (_, { groups }) =>
      Object.assign(groups[2], { noise: { geometric: { mean: spelled(200.5) } } }),
    "noise of the shuffler": (_, terms) => {
      const noise = { shuffler: { decay: spelled(0.5), dummies: spelled(40) } };
      terms.groups.forEach((group) => Object.assign(group, { noise }));
      Object.assign(terms, { honest: spelled(1) });
    },
    "noise of more people than answer": (_, terms) =>
      Object.assign(terms, { honest: spelled(999) }),
    "answers to randomize before": (_, terms) =>
      Object.assign(terms, { local_epsilon: spelled(4.5) }),
    "noise of nobody": (_, terms) => Object.assign(terms, { honest: spelled(0) }),
    "noise of parts of people": (_, terms) => Object.assign(terms, { honest: spelled(0.5) }),
    "a smaller report": (_, terms) => Object.assign(terms, { report_size: spelled(18) }),
    "a report of any size": (_, terms) => Object.assign(terms, { report_size: null }),
    "no room for answers": (_, terms) => Object.assign(terms, { report_size: spelled(3) }),
    "fewer people": (plan) => Object.assign(plan, { minimum: spelled(999) }),
    "fewer rates": (_, terms) => terms.rates.pop(),
    "other targets": (_, terms) => terms.targets.splice(0, 1, spelled(0.6)),
  };
  const foreign = {
    "fewer questions": (_, { groups }) => groups.pop(),
    "more options": (_, { groups }) => Object.assign(groups[0], { buckets: spelled(5) }),
    "more answers": (_, { groups }) => Object.assign(groups[1], { most: spelled(2) }),
  };

  speak("en");
  for (const change of Object.values(allowed)) await changed(change);
  for (const [message, cases] of [["unsafe-plan", hostile], ["unknown-plan", foreign]]) {
    for (const [name, change] of Object.entries(cases)) {
      await assert.rejects(changed(change), { message: CATALOGS.en[message] }, name);
    }
  }
});

test("a plan for a form with numbers is followed if it keeps the rule, and no other", async () => {
  const key = VECTORS.items_signing_keys.analyst_signing_key;
  const changed = (change) => read(planned(change, key, "counts, numbers"));
  const last = ({ groups }) => groups.at(-1);
  const unsafe = {
    "too little noise on a digit": (_, terms) =>
      Object.assign(last(terms).noise.poisson, { mean: spelled(1) }),
    "all is sent": (_, terms) => terms.rates.fill(spelled(1)),
    "a smaller report": (_, terms) => Object.assign(terms, { report_size: spelled(20) }),
  };
  const foreign = {
    "fewer groups": (_, { groups }) => groups.pop(),
    "another order": (_, { groups }) => groups.reverse(),
    "more buckets": (_, terms) => Object.assign(last(terms), { buckets: spelled(9) }),
    "more answers": (_, terms) => Object.assign(last(terms), { most: spelled(2) }),
  };

  speak("en");
  await changed(() => {});
  for (const [message, cases] of [["unsafe-plan", unsafe], ["unknown-plan", foreign]]) {
    for (const [name, change] of Object.entries(cases)) {
      await assert.rejects(changed(change), { message: CATALOGS.en[message] }, name);
    }
  }
});

test("the page refuses a plan of another signer, epoch or task", async () => {
  const foreign = { message: CATALOGS.en["foreign-plan"] };
  const { shuffler_signing_key: other } = VECTORS.items_signing_keys;
  const { served } = VECTORS.cases.find((entry) => entry.name === "items, answers");
  const raw = wire.parse(served);
  const { signature, ...unsigned } = raw.plan;

  speak("en");
  await assert.rejects(read(planned(() => {}, other)), foreign);
  await assert.rejects(read(planned((plan) => Object.assign(plan, { epoch: spelled(4) }))), foreign);
  const task = { task: wire.toText(new Uint8Array(32)) };
  await assert.rejects(read(planned((plan) => Object.assign(plan, task))), foreign);
  await assert.rejects(read(planned((plan) => Object.assign(plan, { more: null }))), foreign);
  await assert.rejects(read(wire.canonical({ ...raw, plan: unsigned })), foreign);
});

test("a browser without Ed25519 takes no part where people choose targets", async () => {
  const { importKey } = crypto.subtle;
  crypto.subtle.importKey = async () => {
    throw new DOMException("Unrecognized name.", "NotSupportedError");
  };
  try {
    speak("en");
    for (const { name, served } of VECTORS.cases) {
      const reading = read(served);
      if (!/^(items|counts)/.test(name)) await reading;
      else await assert.rejects(reading, { message: CATALOGS.en["no-signatures"] });
    }
  } finally {
    crypto.subtle.importKey = importKey;
  }
});

test("the probability that a report is cut is bounded as in Python", () => {
  for (const { blanket, cap, honest, bound } of VECTORS.cut_probabilities) {
    const found = cutProbability(blanket, cap, honest);

    assert.ok(found >= bound * (1 - 1e-8) && found <= bound * (1 + 1e-8) + 1e-289);
  }
});

test("a survey that certifies something else than it asks for is refused", async () => {
  const { served } = VECTORS.cases.find(({ name }) => name === "frequency, subset-selection");
  const named = /"mechanism":"subset-selection"/g;

  assert.equal(served.match(named).length, 2);
  await read(served);
  await assert.rejects(read(served.replace(named, '"mechanism":"local-hashing"')), Trouble);
  for (const part of ['"subset_size":3', '"mechanism":"subset-selection"', '"c10"']) {
    const other = { '"c10"': '"c10","c11"' }[part] ?? part.replace(/3|subset-s.*n/, "1");
    await assert.rejects(read(served.replace(part, other)), Trouble);
  }
});

test("blanket chances are on the safe side of the formula, and those of Python", () => {
  for (const entry of VECTORS.blanket_chances) {
    const chance = blanketChance(entry.epsilon, 1 / entry.categories);

    const formula = Number(entry.formula);
    assert.ok(chance >= formula, `${entry.epsilon}: less private than promised`);
    assert.ok(chance <= formula * (1 + 2e-15));
    const apart = Math.abs(chance - entry.drawn_in_python);
    assert.ok(apart <= 4.5e-16 * chance, `${entry.epsilon}: two last digits at most`);
  }
});

test("Poisson numbers stop where those of Python stop", () => {
  for (const entry of VECTORS.stop_and_go) {
    const { stop, go } = stopAndGo(entry.blanket, entry.cap);

    assert.deepEqual([...stop.slice(0, entry.cap)], entry.stop);
    assert.deepEqual([...go.slice(0, entry.cap)], entry.go);
  }
});

test("a coin uses every bit of its chance", () => {
  const tiny = 2 ** -53 * 0.75;
  const zero = [0, 0];

  // The first 53 bits tie with 0; the next ones decide against 0.75.
  assert.equal(scripted(...zero, 0x80000000, 0).coin(tiny), true);
  assert.equal(scripted(...zero, 0xc0000000, 0).coin(tiny), false);
  assert.equal(scripted(0, 64).coin(tiny), false);
  assert.equal(scripted(...zero).coin(0), false);
  assert.equal(scripted(0xffffffff, 0xffffffff).coin(1), true);
  assert.equal(scripted(0x7fffffff, 0xffffffff).coin(0.5), true);
  assert.equal(scripted(0x80000000, 0).coin(0.5), false);
  for (const chance of [NaN, -0.1, 1.1, undefined]) {
    assert.throws(() => scripted().coin(chance), RangeError);
  }
});

test("words that would favor small numbers are drawn again", () => {
  assert.equal(scripted(0xffffffff, 5).below(3), 2);
  assert.equal(scripted(0xfffffffe).below(3), 2);
  assert.equal(scripted(0xffffffff).below(2 ** 32), 0xffffffff);
  for (const span of [0, 1.5, 2 ** 33, NaN]) {
    assert.throws(() => scripted().below(span), RangeError);
  }
});

test("categories are drawn by their law", () => {
  const gamma = blanketChance(1, 0.25);

  const counts = tally(4, 200_000, () => randomizeCategory(2, 4, 1, new Rng()));

  const chances = [0, 1, 2, 3].map((k) => gamma / 4 + (k === 2 ? 1 - gamma : 0));
  assert.ok(chiSquare(counts, chances) < LARGEST[3]);
  // Odds of e^epsilon between the answer and any other category.
  assert.ok(Math.abs(chances[2] / chances[0] - Math.E) < 1e-12);
});

/** Returns the sets of three of five, and their chances if one holds 2, at a level of 1. */
function subsetsOfThree() {
  const all = [];
  for (let bits = 0; bits < 32; bits += 1) {
    const set = [0, 1, 2, 3, 4].filter((place) => (bits >> place) & 1);
    if (set.length === 3) all.push(set);
  }
  const weights = all.map((set) => (set.includes(2) ? Math.E : 1));
  const whole = weights.reduce((sum, weight) => sum + weight);
  return { all: all.map(String), chances: weights.map((weight) => weight / whole) };
}

test("subsets are drawn by their law", () => {
  const { all, chances } = subsetsOfThree();

  const counts = tally(10, 100_000, () =>
    all.indexOf(String(randomizeSubset(2, 5, 3, 1, new Rng()))),
  );

  assert.ok(chiSquare(counts, chances) < LARGEST[9]);
});

test("columns are drawn by their law", () => {
  const weights = [...Array(8).keys()].map((column) => (speaksFor(column, 2) ? Math.E : 1));
  const whole = weights.reduce((sum, weight) => sum + weight);

  const counts = tally(8, 200_000, () => randomizeColumn(2, 5, 1, new Rng()));

  assert.equal(weights.filter((weight) => weight > 1).length, 4);
  assert.ok(chiSquare(counts, weights.map((weight) => weight / whole)) < LARGEST[7]);
});

/** Runs `drawOne` once for everything that chance could do, coins that are `ignores`. */
function everyDraw(ignores, drawOne) {
  const found = new Map();
  const ends = [];
  const open = [[]];
  while (open.length) {
    const given = open.pop();
    let place = 0;
    const rng = {
      coin: () => ignores,
      below: (span) => {
        if (place < given.length) return given[place++];
        for (let other = 1; other < span; other += 1) open.push([...given, other]);
        given.push(0);
        ends.push(span);
        return given[place++];
      },
    };
    const said = String(drawOne(rng));
    found.set(said, (found.get(said) ?? 0) + 1);
  }
  return found;
}

test("of everything that chance could do, each set of a kind comes up equally often", () => {
  for (const [count, size] of [[5, 3], [5, 1], [5, 4], [2, 1], [9, 2]]) {
    for (const value of [0, 1, count - 1]) {
      const any = everyDraw(true, (rng) => randomizeSubset(value, count, size, 1, rng));
      const own = everyDraw(false, (rng) => randomizeSubset(value, count, size, 1, rng));

      const ways = binomial(count, size);
      assert.equal(any.size, ways);
      assert.equal(new Set(any.values()).size, 1);
      assert.equal(own.size, (ways * size) / count);
      assert.equal(new Set(own.values()).size, 1);
      for (const set of own.keys()) {
        assert.ok(set.split(",").includes(String(value)));
        assert.ok(any.has(set), "One spelling for each set.");
      }
    }
  }
});

test("of everything that chance could do, each column of a kind comes up equally often", () => {
  for (const count of [2, 3, 4, 7, 8]) {
    for (let value = 0; value < count; value += 1) {
      const any = everyDraw(true, (rng) => randomizeColumn(value, count, 1, rng));
      const own = everyDraw(false, (rng) => randomizeColumn(value, count, 1, rng));

      assert.deepEqual([any.size, own.size], [columns(count), columns(count) / 2]);
      assert.equal(new Set([...any.values()]).size, 1);
      assert.equal(new Set([...own.values()]).size, 1);
      assert.ok([...own.keys()].every((column) => speaksFor(Number(column), value)));
    }
  }
});

function binomial(count, size) {
  return size === 0 ? 1 : (binomial(count - 1, size - 1) * count) / size;
}

for (const value of [-10, 5, 30]) {
  test(`a bit about ${value} is drawn by its law`, () => {
    const share = (value + 10) / 40;

    const counts = tally(2, 100_000, () => randomizeNumber(value, -10, 30, 0.7, new Rng()));

    const high = (1 + share * (Math.exp(0.7) - 1)) / (Math.exp(0.7) + 1);
    assert.ok(chiSquare(counts, [1 - high, high]) < LARGEST[1]);
  });
}

test("a number on a grid is drawn by its law", () => {
  // 3.5 of 4 steps above the low end: the last two numbers of the grid are equally near.
  const counts = tally(5, 200_000, () => randomizeOnGrid(25, -10, 30, 5, 1, new Rng()));

  const odds = [1, 1, 1, (1 + Math.E) / 2, (1 + Math.E) / 2];
  const chances = odds.map((each) => each / (Math.E + 4));
  assert.ok(chiSquare(counts, chances) < LARGEST[4]);
  assert.deepEqual([0, 1, 4].map((point) => gridNumber(point, -10, 30, 5)), [-10, 0, 30]);
});

test("numbers of the grid are moved nowhere, and the ends stay inside", () => {
  for (const [value, point] of [[-10, 0], [0, 1], [30, 4]]) {
    // One coin moves the value, and the other keeps it.
    const coins = [];
    const rng = {
      coin: (chance) => {
        coins.push(chance);
        return false;
      },
    };

    assert.equal(randomizeOnGrid(value, -10, 30, 5, 1, rng), point);
    assert.deepEqual(coins, [0, blanketChance(1, 1 / 5)]);
  }
});

test("a number of the grid is certified as it is asked for", async () => {
  const { served } = VECTORS.cases.find(({ name }) => name === "mean, grid-response");
  const certified = served.lastIndexOf('"values":12');

  await read(served);
  assert.ok(served.indexOf('"values":12') < certified);
  const other = `${served.slice(0, certified)}"values":13${served.slice(certified + 11)}`;
  await assert.rejects(read(other), Trouble);
  const named = /"mechanism":"grid-response"/;
  await assert.rejects(read(served.replace(named, '"mechanism":"one-bit"')), Trouble);
  await assert.rejects(read(served.replace('"values":12', '"values":12.5')), Trouble);
  const bit = VECTORS.cases.find(({ name }) => name === "mean").served;
  await assert.rejects(read(bit.replace('"low":-40.0}', '"low":-40.0,"values":2}')), Trouble);
});

test("items are sent with their level's chance", () => {
  const plan = { numItems: 50, setSize: 2, blanket: 0, reportSize: 3 };

  // Chances of none, the first, the second, and both.
  const counts = tally(4, 60_000, () => {
    const [first, second, none] = randomizeItems([7, 9], plan, 0.3, new Rng());
    assert.equal(none, 50);
    return (first === 7 ? 1 : 0) + (second === 9 ? 2 : 0);
  });

  assert.ok(chiSquare(counts, [0.49, 0.21, 0.21, 0.09]) < LARGEST[3]);
});

test("blanket messages are a capped Poisson number", () => {
  const plan = { numItems: 10, setSize: 1, blanket: 2.5, reportSize: 7 };

  const counts = tally(7, 60_000, () => {
    const report = randomizeItems([], plan, 1, new Rng());
    assert.equal(report.length, 7);
    return report.filter((item) => item < 10).length;
  });

  const chances = [0, 1, 2, 3, 4, 5].map(poisson(2.5));
  chances.push(1 - chances.reduce((sum, chance) => sum + chance));
  assert.ok(chiSquare(counts, chances) < LARGEST[6]);
});

function poisson(mean) {
  return (count) => {
    let chance = Math.exp(-mean);
    for (let j = 1; j <= count; j += 1) chance *= mean / j;
    return chance;
  };
}

test("answers to several questions are sent with their level's chance", () => {
  const groups = [
    { buckets: 4, most: 2, mean: 0 },
    { buckets: 2, most: 1, mean: 0 },
  ];

  // Options 3 and 5 were picked: chances of none, the first, the second, and both.
  const counts = tally(4, 60_000, () => {
    const report = randomizeAnswers([3, 5], groups, 5, 0.3, new Rng());
    assert.equal(report.length, 5);
    assert.deepEqual([report[1], report[3], report[4]], [12, 12, 12]);
    return (report[0] === 6 ? 1 : 0) + (report[2] === 10 ? 2 : 0);
  });

  assert.ok(chiSquare(counts, [0.49, 0.21, 0.21, 0.09]) < LARGEST[3]);
});

test("noise of several questions is Poisson in each, and cut where a report ends", () => {
  const groups = [
    { buckets: 2, most: 1, mean: 1.5 },
    { buckets: 3, most: 1, mean: 1 },
  ];
  const seen = new Set();

  // Together Poisson of mean 2.5, of which 6 fit.
  const counts = tally(7, 60_000, () => {
    const report = randomizeAnswers([], groups, 8, 1, new Rng());
    const sent = report.filter((message) => message < 10);
    sent.forEach((message) => seen.add(message));
    return sent.length;
  });

  const chances = [0, 1, 2, 3, 4, 5].map(poisson(2.5));
  chances.push(1 - chances.reduce((sum, chance) => sum + chance));
  assert.ok(chiSquare(counts, chances) < LARGEST[6]);
  assert.deepEqual([...seen].sort(), [0, 2, 4, 6, 8]);
});

const NOISE = JSON.parse(await readFile(new URL("../../../spec/vectors/noise.json", import.meta.url), "utf8"));

/** Words of the operating system, drawn many at once: millions of draws take a while. */
function manyWords() {
  const stock = new Uint32Array(2 ** 14);
  let next = stock.length;
  return (words) => {
    if (next + words.length > stock.length) {
      crypto.getRandomValues(stock);
      next = 0;
    }
    words.set(stock.subarray(next, next + words.length));
    next += words.length;
    return words;
  };
}

for (const { name, groups, report_size: size, draws, largest, cells, law } of NOISE) {
  test(`${name}: noise has the law that Python draws from`, () => {
    const buckets = cells[0].length;
    const places = new Map(cells.map((cell, place) => [String(cell), place]));

    const rng = new Rng(manyWords());

    const counts = tally(cells.length, draws, () => {
      const cell = new Array(buckets).fill(0);
      for (const message of randomizeAnswers([], groups, size, 1, rng)) {
        if (message < 2 * buckets) cell[message / 2] += 1;
      }
      return places.get(String(cell));
    });

    assert.ok(chiSquare(counts, law) < largest);
  });
}

for (const { form, device_secret: secret, questions, answers } of ENCODINGS) {
  test(`${form}: answers lie in the buckets that Python finds`, async () => {
    assert.ok(isForm(questions));
    for (const { picked, numbers, context, buckets } of answers) {
      const answer = answerNumbers({ picked, numbers });
      const found = await withCoins(bytes(secret), bytes(context), (rng) =>
        bucketsOf(answer, questions, rng),
      );

      let first = 0;
      const byGroup = groupsOf(questions).map(({ buckets: count }) => {
        const begin = first;
        first += count;
        return found.filter((each) => each >= begin && each < first).map((each) => each - begin);
      });
      assert.deepEqual(byGroup, buckets);
    }
  });
}

test("a number that is rounded at random is so without bias", () => {
  const question = { text: "?", unit: "", low: 0, high: 30, steps: 3, levels: [[2, 2], [1, 2]] };

  // 17.5 is 1.75 steps: both levels say 1, or the first one says 0 and the second one 1.
  const counts = tally(2, 60_000, () => {
    const [first, second] = bucketsOf([17.5], [question], new Rng());
    assert.deepEqual([first, second], first === 1 ? [1, 2] : [0, 3]);
    return first;
  });

  assert.ok(chiSquare(counts, [0.25, 0.75]) < LARGEST[1]);
});

test("answers outside a form lie in no bucket", () => {
  const [{ questions }] = ENCODINGS;
  const rng = scripted();
  const wrong = [
    [0, 4, 15.9, 30],
    [0, 4, 110.1, 30],
    [0, 4, NaN, 30],
    [0, 4, "44", 30],
    [0, 4, 44, -0.1],
    [0, 4, 44, 121],
    [0, 4, 44, Infinity],
    [0, 6, 44, 30],
    [-1, 4, 44, 30],
    [0.5, 4, 44, 30],
    [44],
    [],
  ];

  for (const answer of wrong) {
    assert.throws(() => bucketsOf(answer, questions, rng), RangeError, `${answer}`);
  }
  // Two ways at once are two buckets of a group that has one: a report has no room for them.
  const twice = bucketsOf([0, 1, 4, 44, 30], questions, new Rng());
  const groups = groupsOf(questions).map((group) => ({ ...group, mean: 1 }));
  assert.throws(() => randomizeAnswers(twice, groups, 90, 0.5, new Rng()), RangeError);
});

test("a form whose encoding is not described in full is refused", async () => {
  const changed = (change) => {
    const questions = structuredClone(ENCODINGS[0].questions);
    change(...questions);
    return questions;
  };
  const hostile = {
    "no levels": (_, age) => Object.assign(age, { levels: [] }),
    "a width of 0": (_, age) => Object.assign(age, { levels: [[0, 2]] }),
    "parts of buckets": (_, age) => Object.assign(age, { levels: [[1, 2.5]] }),
    "one bucket": (_, age) => Object.assign(age, { levels: [[1, 1]] }),
    "levels of three": (_, age) => Object.assign(age, { levels: [[1, 2, 3]] }),
    "edges out of order": (_, age) => age.edges.reverse(),
    "an edge twice": (_, age) => age.edges.splice(1, 1, age.edges[0]),
    "edges of text": (_, age) => Object.assign(age, { edges: ["16", "17", "110"] }),
    "another range than edges": (_, age) => Object.assign(age, { high: 120 }),
    "edges and steps": (_, age) => Object.assign(age, { steps: 3 }),
    "neither edges nor steps": (_, age) => delete age.edges,
    "no unit": (_, age) => delete age.unit,
    "no range": (_, __, ___, way) => Object.assign(way, { low: 120 }),
    "an endless range": (_, __, ___, way) => Object.assign(way, { high: Infinity }),
    "half a step": (_, __, ___, way) => Object.assign(way, { steps: 0.5 }),
    "no options": (way) => Object.assign(way, { options: [] }),
    "more answers than options": (way) => Object.assign(way, { most: 5 }),
    "a combination of nothing": (...all) => Object.assign(all[4], { groups: [] }),
    "a combination with another form's question": (...all) => all[4].groups[0][0].splice(0, 1, 9),
    "a combination with itself": (...all) => all[4].groups[0][0].splice(0, 1, 5),
    "a combination of several options": (way) => Object.assign(way, { most: 2 }),
  };

  for (const [name, change] of Object.entries(hostile)) {
    assert.equal(isForm(changed(change)), false, name);
  }
  assert.equal(isForm(changed(() => {})), true);
  for (const other of [null, [], "form", [null], [3], [{}], [ENCODINGS[0].questions[4]]]) {
    assert.equal(isForm(other), false);
  }
  speak("en");
  const served = servedOf("counts, numbers", ({ question }) => {
    question.terms.questions[1].levels[0][1] = 3;
  });
  await assert.rejects(read(served), { message: CATALOGS.en["unknown-survey"] });
});

test("answers out of range are never randomized", () => {
  const groups = [
    { buckets: 4, most: 2, mean: 1 },
    { buckets: 2, most: 1, mean: 1 },
  ];
  for (const answers of [[0, 1, 2], [1, 1], [4, 5], [6], [-1], [0.5], [NaN]]) {
    assert.throws(() => randomizeAnswers(answers, groups, 9, 0.5, scripted()), RangeError);
  }
  assert.throws(() => randomizeAnswers([], groups, 2, 0.5, scripted()), RangeError);
  const plan = { numItems: 4, setSize: 2, blanket: 1, reportSize: 5 };
  const rng = scripted();

  for (const value of [-1, 3, 0.5, NaN, "1", null]) {
    assert.throws(() => randomizeCategory(value, 3, 1, rng), RangeError);
    assert.throws(() => randomizeSubset(value, 3, 1, 1, rng), RangeError);
    assert.throws(() => randomizeColumn(value, 3, 1, rng), RangeError);
  }
  for (const value of [-0.1, 1.1, NaN, undefined]) {
    assert.throws(() => randomizeNumber(value, 0, 1, 1, rng), RangeError);
    assert.throws(() => randomizeOnGrid(value, 0, 1, 5, 1, rng), RangeError);
  }
  for (const set of [[0, 1, 2], [1, 1], [4]]) {
    assert.throws(() => randomizeItems(set, plan, 0.5, rng), RangeError);
  }
  for (const level of [NaN, -1, Infinity, undefined]) {
    assert.throws(() => randomizeCategory(0, 3, level, rng), RangeError);
    assert.throws(() => randomizeSubset(0, 3, 1, level, rng), RangeError);
    assert.throws(() => randomizeColumn(0, 3, level, new Rng()), RangeError);
  }
  for (const size of [0, 3, 1.5, NaN, undefined]) {
    assert.throws(() => randomizeSubset(0, 3, size, 1, rng), RangeError);
  }
});

const ANSWERS = { "counts, numbers": [2, 5, 44, 35] };

test("each question's message is said in words", async () => {
  const said = new Map();
  for (const entry of VECTORS.cases) {
    const survey = await read(entry.served);
    const answer = ANSWERS[entry.name] ?? [/^(items|counts)/.test(entry.name) ? 0 : 1];
    const drawn = draw(survey, entry.choice_position, answer, new Rng());
    assert.equal(drawn.length, entry.numbers.length);
    said.set(entry.name, describe(survey, entry.numbers));
  }

  assert.deepEqual(said.get("frequency, agnostic"), ["c"]);
  assert.deepEqual(said.get("frequency, subset-selection"), ["c0", "c7", "c10"]);
  // Of rows 1 to 11, those that have an even number of ones in common with 1101.
  const even = ["c1", "c4", "c6", "c8", "c10"];
  assert.deepEqual(said.get("frequency, hadamard-response"), even);
  assert.deepEqual(said.get("sum"), ["No"]);
  assert.match(said.get("mean")[0], /the high end$/);
  // 8 of 11 steps from -40 to 10.5.
  assert.match(said.get("mean, grid-response")[0], /^-3\.27/);
  assert.deepEqual(said.get("items, targets"), ["At most 100% sure"]);
  assert.deepEqual(said.get("items, answers"), ["b", "d", "22 empty parts"]);
  assert.deepEqual(said.get("counts, answers"), [
    "Which letters? b, 2 times",
    "Rauchen Sie? nein",
    "Tanzen Sie? nein",
    "16 empty parts",
  ]);
  assert.deepEqual(said.get("counts, numbers").slice(0, 3), [
    "How do you get to work? car",
    "How old are you? counter 2.1",
    "How old are you? counter 3.3",
  ]);
});

test("the page follows what a task states, and names no encoding", async () => {
  const words = /\b(tree|intervals?|quantiles?|histogram|distribution|fan|binary|group-mean)\b/i;
  const scripts = (await sourceFiles()).filter((name) => !name.startsWith("texts-"));

  const lines = [];
  for (const name of scripts) {
    const code = await readFile(new URL(name, FOLDER), "utf8");
    lines.push(...code.split("\n").map((line) => [name, line]));
  }

  assert.deepEqual(lines.filter(([, line]) => words.test(line)), []);
});

test("small numbers are written in full, as the language writes them", () => {
  const numbers = [1e-8, 0.07599421, 1500.5, -10];

  assert.deepEqual(numbers.map(asText), ["0.00000001", "0.07599421", "1,500.5", "-10"]);
  speak("de");
  assert.deepEqual(numbers.map(asText), ["0,00000001", "0,07599421", "1.500,5", "-10"]);
  assert.equal(sureness(1), "74\u00a0%");
  speak("en");
});

test("certainty is rounded up, to digits that say something", () => {
  const said = [1e-9, 0.5, 1, 2, 5, 10, 14, 700].map(sureness);

  const expected = ["51%", "63%", "74%", "89%", "99.4%", "99.996%", "100%", "100%"];
  assert.deepEqual(said, expected);
});

test("refusals are said to people", () => {
  const of = (reason) => refusalText({ type: `urn:shuffledp:problem:${reason}` });

  assert.match(of("token-spent"), /used before/);
  assert.match(of("not-open"), /closed/);
  assert.match(refusalText({ title: "Odd" }), /did not take the message. \(Odd\.\)/);
  assert.match(refusalText({}), /did not take the message/);
});

test("sealing twice gives other bytes", async () => {
  const message = wire.plainMessage(1);
  const key = bytes(VECTORS.public_key);

  const [one, other] = await seal(key, bytes("00"), [message, message]);

  assert.notEqual(hex(one), hex(other));
});

test("every catalog says the same things, with the same numbers in them", async () => {
  const holes = (text) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  const [first, ...others] = Object.values(CATALOGS);

  assert.ok(others.length);
  for (const other of others) {
    assert.deepEqual(Object.keys(other), Object.keys(first));
    for (const name of Object.keys(first)) {
      assert.ok(other[name].trim());
      assert.deepEqual(holes(other[name]), holes(first[name]), name);
    }
  }
});

function servedOf(name, change) {
  const served = JSON.parse(VECTORS.cases.find((entry) => entry.name === name).served);
  change(served.task);
  return JSON.stringify(served);
}

test("a statistic that the page never heard of is taken with a mechanism that it runs", async () => {
  const served = servedOf("sum", (task) => {
    task.question.statistic = "smokers";
    task.protocol.statistic = "smokers";
  });

  const survey = await read(served);

  assert.deepEqual(draw(survey, 2, [1], new Rng()).length, 1);
  const mixed = servedOf("sum", (task) => {
    task.protocol.statistic = "smokers";
  });
  await assert.rejects(read(mixed), Trouble);
});

test("a mechanism that follows a plan is refused without a rule, and a rule without it", async () => {
  const rule = JSON.parse(VECTORS.cases.find((e) => e.name === "items, targets").served).task.plan_rule;
  const bare = servedOf("items, targets", (task) => {
    delete task.plan_rule;
  });
  const ruled = servedOf("sum", (task) => {
    task.plan_rule = rule;
  });

  await assert.rejects(read(bare), Trouble);
  await assert.rejects(read(ruled), Trouble);
});

/** The page's own scripts, by their paths below its folder. */
async function sourceFiles() {
  const top = await readdir(FOLDER);
  const mechanisms = await readdir(new URL("mechanisms/", FOLDER));
  const files = [...top, ...mechanisms.map((name) => `mechanisms/${name}`)];
  return files.filter((name) => name.endsWith(".js"));
}

test("only a mechanism's own file names it, and none names a statistic", async () => {
  const names = ["kary-response", "subset-selection", "hadamard-response", "one-bit", "grid-response", "poisson-items", "noisy-counts"];
  const statistics = ["frequency", "mean", "sum", "items", "strings"];
  for (const name of await sourceFiles()) {
    const code = await readFile(new URL(name, FOLDER), "utf8");
    const said = [...code.matchAll(/(["'`])((?:(?!\1).)*)\1/g)].map(([, , text]) => text);
    const own = name === `mechanisms/${names.find((each) => name.includes(each))}.js`;

    const foreign = said.filter((text) => names.includes(text));
    assert.ok(own ? foreign.length === 1 : foreign.length === 0, `${name}: ${foreign}`);
    assert.deepEqual(said.filter((text) => statistics.includes(text)), [], name);
  }
});

test("every text is used, and every text that is used is there", async () => {
  const files = await sourceFiles();
  const sources = files.filter((name) => !name.startsWith("texts-"));
  const read = sources.map((name) => readFile(new URL(name, FOLDER), "utf8"));
  const code = (await Promise.all(read)).join("\n");
  const names = Object.keys(CATALOGS.en);

  const asked = [...code.matchAll(/\bt\(\s*"([^"]+)"/g)].map(([, name]) => name);
  assert.ok(asked.length > 50);
  assert.deepEqual(asked.filter((name) => !names.includes(name)), []);
  assert.deepEqual(names.filter((name) => !code.includes(`"${name}"`)), []);
});

test("a language is chosen by what people read, then by what there is", async () => {
  const other = { name: "n", question: "q", answers: [], consent: "c" };
  const notice = { language: "fr", translations: { "pt-BR": other } };
  const task = { notice };

  assert.deepEqual(offered(task), ["de", "en", "fr", "pt-BR"]);
  assert.equal(preferred(task, ["fr-CA", "en"]), "fr");
  assert.equal(preferred(task, ["pt"]), "pt-BR");
  assert.equal(preferred(task, ["de-AT", "fr"]), "de");
  assert.equal(preferred(task, ["xx"]), "fr");
});

test("a translation changes what is read, and no byte of what is sent", async () => {
  const entry = VECTORS.cases.find(({ served }) => served.includes('"categories"'));
  const survey = await read(entry.served);
  const { categories } = survey.task.question.terms;
  const answers = categories.map((name) => `${name}!`);
  survey.task.notice.translations.de = { name: "N", question: "F?", answers, consent: "E" };
  const shown = inLanguage(survey, "de");

  assert.deepEqual(shown.task.question.terms.categories, answers);
  assert.equal(shown.step, survey.step);
  assert.equal(inLanguage(survey, "fr").task.question.text, survey.task.question.text);
  const served = wire.parse(entry.served);
  served.task.notice.translations.de = { name: "N", question: "F?", answers: [], consent: "E" };
  await assert.rejects(read(wire.canonical(served)), Trouble);
});

const COINS = JSON.parse(await readFile(new URL("../../../spec/vectors/coins.json", import.meta.url), "utf8"));

for (const entry of COINS) {
  test(`${entry.case}: coins are those of Python`, async () => {
    const { served } = VECTORS.cases.find(({ name }) => name === entry.case);
    const { step } = await read(served);

    const context = await coinContext(step, bytes(entry.link_secret), entry.level, entry.answer);
    const words = await streamWords(bytes(entry.device_secret), context, entry.words.length);

    assert.equal(hex(context), entry.context);
    assert.deepEqual(words.map((word) => word.toString(16).padStart(16, "0")), entry.words);
  });
}

test("the same answer is the same message, however long its stream is", async () => {
  const [{ device_secret: device, context }] = COINS;
  const many = (rng) => Array.from({ length: 9_000 }, () => rng.below(1000));
  const drawn = () => withCoins(bytes(device), bytes(context), many);

  const [first, again] = [await drawn(), await drawn()];
  const short = await withCoins(bytes(device), bytes(context), (rng) => rng.below(1000));
  const other = await withCoins(bytes(context), bytes(context), many);

  assert.deepEqual(first, again);
  assert.equal(short, first[0]);
  assert.notDeepEqual(first, other);
});

test("answers are numbers that do not depend on the order of clicks", () => {
  assert.deepEqual(answerNumbers([10, 2, 9]), [2, 9, 10]);
  assert.deepEqual(answerNumbers(3), [3]);
  assert.ok(Object.is(answerNumbers(-0)[0], 0));
  assert.deepEqual(answerNumbers(null), []);
});

/** A browser's memory, of strings. */
function memory() {
  const kept = new Map();
  const storage = {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, text) => kept.set(name, String(text)),
  };
  return { kept, storage: () => storage };
}

async function surveyOf(change = {}) {
  const [entry] = VECTORS.cases;
  const survey = await read(entry.served);
  const terms = { allowance: [2.5, 2.5, 2.5], promise: [1, 1, 1] };
  return {
    ...survey,
    task: { ...survey.task, ...terms },
    fingerprint: change.fingerprint ?? survey.fingerprint,
    step: { ...survey.step, ...change },
  };
}

test("a browser keeps one secret, and another browser has another", () => {
  const [one, other] = [memory(), memory()];

  const secret = deviceSecret(one.storage);

  assert.equal(secret.length, 32);
  assert.deepEqual(deviceSecret(one.storage), secret);
  assert.notDeepEqual(deviceSecret(other.storage), secret);
});

test("a browser that keeps nothing takes no part", async () => {
  const broken = () => {
    throw new Error("SecurityError");
  };
  const forgetful = () => ({ getItem: () => null, setItem: () => {} });

  assert.throws(() => deviceSecret(broken), Trouble);
  assert.throws(() => deviceSecret(forgetful), Trouble);
  const survey = await surveyOf();
  // Its memory was emptied, or another tab drew a secret, since this message was drawn.
  const { storage } = memory();
  deviceSecret(storage);
  const known = [storage, survey, new Uint8Array(32), new Uint8Array(32), new Uint8Array(32)];
  await assert.rejects(isChanged(...known), Trouble);
});

test("another answer is found out, and accepted only in so many words", async () => {
  const { kept, storage } = memory();
  const survey = await surveyOf();
  const secret = deviceSecret(storage);
  const token = new Uint8Array(32).fill(7);
  const known = (place, of = token) => [storage, survey, secret, of, new Uint8Array(32).fill(place)];

  assert.equal(await isChanged(...known(1)), false);
  await remember(...known(1), { changed: false });
  assert.equal(await isChanged(...known(1)), false);
  assert.equal(await isChanged(...known(2)), true);
  await assert.rejects(remember(...known(2), { changed: false }), Trouble);
  assert.equal(await isChanged(...known(2, new Uint8Array(32))), false);
  await remember(...known(2), { changed: true });
  assert.equal(await isChanged(...known(2)), false);
  // Neither tokens nor answers can be read from what is kept.
  const all = [...kept.values()].join();
  assert.ok(!all.includes(wire.toText(token)) && !all.includes(hex(token)));
});

test("no more rounds than agreed on, no other plan, and no other keys in one round", async () => {
  const { storage } = memory();
  const secret = deviceSecret(storage);
  const send = async (change) => {
    const known = [storage, await surveyOf(change), secret, new Uint8Array(32), new Uint8Array(32)];
    await remember(...known, { changed: false });
  };

  await send({ epoch: 1 });
  await assert.rejects(send({ epoch: 1, planDigest: new Uint8Array(32).fill(1) }), Trouble);
  await assert.rejects(send({ epoch: 1, fingerprint: "0".repeat(64) }), Trouble);
  await send({ epoch: 4 });
  await send({ epoch: 1 });
  await assert.rejects(send({ epoch: 2 }), Trouble);
});

test("a link is read whole, and is for one round of one survey", async () => {
  const survey = await surveyOf();
  const code = "A".repeat(43);
  const text = `token=${code}&secret=${code}&epoch=${survey.step.epoch}&task=${survey.fingerprint}`;

  const invitation = invitationOf(` https://s.example/tasks/x/take-part#${text}\n`);

  assert.deepEqual(invitationOf(text), invitation);
  assert.equal(hex(invitation.secret), "00".repeat(32));
  assert.equal(problemOf(invitation, survey), null);
  for (const other of [{ epoch: 77 }, { task: "0".repeat(64) }]) {
    assert.ok(problemOf({ ...invitation, ...other }, survey));
  }
  for (const wrong of ["", code, text.slice(1), text.slice(0, -1), `${text}&more=1`]) {
    assert.equal(invitationOf(wrong), null);
  }
  assert.equal(invitationOf(text.replace("secret=A", "secret=")), null);
});
