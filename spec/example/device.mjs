// A second device, written from the specification alone: k-ary response, suite x25519.
//
// It keeps no state: before it sends, a real device stores what mechanisms.md says, and
// draws permanent randomness.

import * as crypto from "node:crypto";

export class Refusal extends Error {}
export const need = (fact, kind = "malformed") => {
  if (!fact) throw new Refusal(kind);
};
const within = (fact) => need(fact, "out-of-range");

// encoding.md

class Numeral {
  constructor(letters) {
    need(Number.isFinite(Number(letters)));
    Object.assign(this, { letters, value: Number(letters), isWhole: /^-?\d+$/.test(letters) });
  }
}
export const isWhole = (value) => value instanceof Numeral && value.isWhole;
export const isObject = (value) => value?.constructor === Object;

/** Reads one JSON object; numbers keep their letters. */
export function parse(text) {
  let named = 0;
  const marked = text.replace(/"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*/g, (token, colon) => {
    if (colon) named += 1;
    if (token[0] !== '"') return `"n${token}"`;
    return colon ? token : `"s${token.slice(1)}`;
  });
  const unmark = (value, depth) => {
    if (typeof value === "string") {
      need(value.isWellFormed());
      return value[0] === "s" ? value.slice(1) : new Numeral(value.slice(1));
    }
    if (typeof value !== "object" || value === null) return value;
    need(depth < 64);
    if (Array.isArray(value)) return value.map((entry) => unmark(entry, depth + 1));
    const members = Object.entries(value);
    named -= members.length;
    return Object.fromEntries(members.map(([name, entry]) => [name, unmark(entry, depth + 1)]));
  };
  try {
    JSON.parse(text); // Refuses what is no JSON, before numbers become strings.
    const value = unmark(JSON.parse(marked), 0);
    need(isObject(value) && named === 0); // A name that came twice was counted twice.
    return value;
  } catch {
    throw new Refusal("malformed");
  }
}

export function canonical(value) {
  if (value instanceof Numeral) return value.letters;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

export const sha256 = (...parts) => crypto.createHash("sha256").update(Buffer.concat(parts)).digest();
export const digestOf = (value) => sha256(Buffer.from(canonical(value)));
export const toText = (bytes) => bytes.toString("base64url");

export function bytes(text, size) {
  need(typeof text === "string" && /^[\w-]*$/.test(text));
  const content = Buffer.from(text, "base64url");
  need(content.length === size && toText(content) === text);
  return content;
}

/** Checks that an object has these members (given in one text) and no others. */
export function expect(value, names, optional = "") {
  const [all, more] = [names.split(" "), optional.split(" ")];
  need(isObject(value) && all.every((name) => name in value));
  need(Object.keys(value).every((name) => all.includes(name) || more.includes(name)));
}

export const number = (value, low = 0, high = Infinity) => {
  need(value instanceof Numeral && value.value >= low && value.value <= high);
  return value.value;
};
export const whole = (value) => number(isWhole(value) ? value : null);
export const list = (value, read) => {
  need(Array.isArray(value));
  return value.map((entry) => read(entry));
};

export function checkSigned(purpose, { signature, ...content }, key) {
  const publicKey = crypto.createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: toText(key) }, format: "jwk" });
  const said = Buffer.from(`shuffledp ${purpose} 1\0${canonical(content)}`);
  need(crypto.verify(null, said, publicKey, bytes(signature, 64)), "signature-forged");
  return content;
}

// task.md and participation.md

const KEYS = ["analyst_key", "analyst_signing_key", "shuffler_signing_key", "enroller_signing_key"];

export function readTask(content) {
  const raw = parse(content);
  const others = "minimum choices promise allowance version task_id name notice question protocol";
  expect(raw, `${others} delta absent suite succeeds ${KEYS.join(" ")}`, "plan_rule");
  const { version, delta, absent, question, suite, succeeds } = raw;
  need(isWhole(version) && version.value === 4 && delta instanceof Numeral && !delta.isWhole && isWhole(absent));
  need(list(raw.minimum, isWhole).every(Boolean) && ["x25519", "x-wing"].includes(suite));
  const [choices, minimum, promise, allowance] = ["choices", "minimum", "promise", "allowance"].map((name) =>
    list(raw[name], (value) => number(value, -Infinity)),
  );
  expect(raw.notice, "asker contact consent language translations");
  expect(question, "statistic text mode terms");
  const { statistic, mode, terms } = question;
  need(suite === "x25519" && statistic === "frequency" && terms.mechanism === "kary-response", "unknown-task");
  const keys = KEYS.map((name) => bytes(raw[name], 32));
  const taskId = bytes(raw.task_id, 16);
  if (succeeds !== null) bytes(succeeds, 32);
  const isText = (value, most) => typeof value === "string" && value.trim() && [...value].length <= most;
  const categories = terms.categories ?? [];
  within(isText(raw.name, 100) && isText(question.text, 500) && Object.keys(terms).length === 2);
  within(categories.length >= 2 && categories.length <= 10_000 && categories.every((each) => isText(each, 500)));
  within(new Set(categories).size === categories.length && ["agnostic", "stratified"].includes(mode));
  within(!("plan_rule" in raw) && choices.length >= 1 && choices.length <= 64 && choices.at(-1) <= 700);
  within(choices.every((choice, place) => choice > (choices[place - 1] ?? 0)));
  within([minimum, promise, allowance].every(({ length }) => length === choices.length));
  within(minimum.every((people) => people >= 1 && people <= 1e9) && absent.value >= 0 && absent.value <= 1e9);
  within([...promise, ...allowance].every((epsilon) => epsilon > 0) && delta.value > 0 && delta.value < 1);
  within(new Set(keys.map(toText)).size === keys.length);
  const parameters = { categories: new Numeral(`${categories.length}`) };
  const protocol = { statistic, mechanism: "kary-response", parameters, mode };
  need(canonical(raw.protocol) === canonical(protocol));
  const epochs = Math.max(1, Math.min(...promise.map((part, place) => Math.floor(allowance[place] / part))));
  const [sealing, analyst, shuffler, enroller] = keys;
  const agreed = { choices, minimum, promise, epochs, k: categories.length, linked: mode === "stratified" };
  return { raw, taskId, digest: digestOf(raw), protocol, sealing, analyst, shuffler, enroller, ...agreed };
}

export const fingerprint = ({ digest }) => digest.toString("hex");

export function checkAgreement(document, role, task, key) {
  const content = checkSigned("agreement", document, key);
  need(canonical(content) === canonical({ role, task: fingerprint(task) }), "signature-forged");
}

export function readLink(line) {
  const link = /^(?:.*#)?token=([\w-]+)&secret=([\w-]+)&epoch=([1-9]\d*)&task=([0-9a-f]{64})$/.exec(line.trim());
  need(link && Number(link[3]) < 2 ** 32);
  return { token: bytes(link[1], 32), secret: bytes(link[2], 32), epoch: Number(link[3]), task: link[4] };
}

// report.md and mechanisms.md

const bigEndian = (value, size) => Buffer.from(value.toString(16).padStart(2 * size, "0"), "hex");

/** Returns a probability between gamma and gamma (1 + 2e-15). */
export const blanket = (epsilon, share) => Math.min(1, (1 + 1e-15) / (1 + share * Math.expm1(epsilon)));

function coin(probability) {
  for (let rest = probability; ; ) {
    const scaled = rest * 2 ** 53;
    const drawn = Number(crypto.randomBytes(8).readBigUInt64BE() >> 11n);
    if (drawn !== Math.floor(scaled)) return drawn < scaled;
    rest = scaled - drawn; // The next 53 bits decide; nothing is left of a whole number.
    if (rest === 0) return false;
  }
}

function exchange(privateKey, publicKey) {
  try {
    return crypto.diffieHellman({ privateKey, publicKey });
  } catch {
    throw new Refusal("malformed"); // OpenSSL refuses a shared secret of zeros.
  }
}

export function seal(publicKey, info, message) {
  const hmac = (key, ...parts) => crypto.createHmac("sha256", key).update(Buffer.concat(parts)).digest();
  const label = (suite, name) => Buffer.concat([Buffer.from("HPKE-v1"), suite, Buffer.from(name)]);
  const extract = (suite, salt, name, content) => hmac(salt, label(suite, name), content);
  const expand = (suite, key, name, content, size) =>
    hmac(key, bigEndian(size, 2), label(suite, name), content, Buffer.of(1)).subarray(0, size);
  const [kem, none] = [Buffer.from("KEM\0\x20"), Buffer.alloc(0)];
  const suite = Buffer.from("HPKE\0\x20\0\x01\0\x01");
  const jwk = { kty: "OKP", crv: "X25519", x: toText(publicKey) };
  const ephemeral = crypto.generateKeyPairSync("x25519");
  // The key is the end of the DER form; as JWK, Node.js 20 sometimes waits for ever for it.
  const enc = ephemeral.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const shared = exchange(ephemeral.privateKey, crypto.createPublicKey({ key: jwk, format: "jwk" }));
  const both = Buffer.concat([enc, publicKey]);
  const secret = expand(kem, extract(kem, none, "eae_prk", shared), "shared_secret", both, 32);
  const hashes = [extract(suite, none, "psk_id_hash", none), extract(suite, none, "info_hash", info)];
  const context = Buffer.concat([Buffer.of(0), ...hashes]);
  const root = extract(suite, secret, "secret", none);
  const [key, nonce] = [expand(suite, root, "key", context, 16), expand(suite, root, "base_nonce", context, 12)];
  const cipher = crypto.createCipheriv("aes-128-gcm", key, nonce);
  return Buffer.concat([enc, cipher.update(message), cipher.final(), cipher.getAuthTag()]);
}

/** Returns the upload of one report about a category at a level. */
export function report(task, link, category, level) {
  need(link.task === fingerprint(task), "unknown-task");
  need(link.epoch <= 2 * task.epochs, "wrong-epoch");
  need(task.choices[level] !== undefined, "unknown-level");
  within(Number.isInteger(category) && category >= 0 && category < task.k);
  const ignores = coin(blanket(task.choices[level], 1 / task.k));
  const message = Buffer.concat([Buffer.of(1), bigEndian(ignores ? crypto.randomInt(task.k) : category, 8)]);
  const [epoch, place] = [bigEndian(link.epoch, 4), bigEndian(level, 2)];
  const choice = task.linked ? place : Buffer.of(255, 255);
  const info = [Buffer.from("shuffledp message 1"), task.digest, epoch, Buffer.of(0), choice, Buffer.alloc(32)];
  const header = [Buffer.from("SDPR"), Buffer.of(1, 0), epoch, task.taskId];
  return Buffer.concat([...header, link.token, place, seal(task.sealing, Buffer.concat(info), message)]);
}

const KINDS = `malformed too-large wrong-size wrong-order unknown-task wrong-epoch wrong-stage not-open
  unknown-level token-forged token-spent message-repeated signature-forged already-delivered plan-refused
  too-few-people allowance-spent unreadable skipped not-found storage-full`.split(/\s+/);

export function readReceipt(document, { shuffler }) {
  const receipt = checkSigned("receipt", document, shuffler);
  expect(receipt, "task epoch stage messages accepted refused", "plan");
  const numbers = [receipt.epoch, receipt.stage, receipt.accepted].map(whole);
  need(receipt.plan === undefined || /^[0-9a-f]{64}$/.test(receipt.plan));
  const refused = list(receipt.refused, (row) => list(row, (entry) => entry));
  need(refused.every((row) => row.length === 2 && isWhole(row[0]) && KINDS.includes(row[1])));
  const [task, messages] = [bytes(receipt.task, 32), bytes(receipt.messages, 32)];
  return { task, messages, numbers, refused, plan: receipt.plan };
}

/** Returns what the sender of an upload of one report keeps, after checking its receipt. */
export function keep(task, link, upload, document) {
  const hash = sha256(upload.subarray(26 + 34));
  const { task: of, messages, numbers, refused, plan } = readReceipt(document, task);
  const isSame = of.equals(task.digest) && messages.equals(sha256(hash)) && plan === undefined;
  need(isSame && `${numbers}` === `${[link.epoch, 0, 1]}` && !refused.length, "signature-forged");
  return `${canonical({ task: fingerprint(task), messages: [toText(hash)], receipt: document })}\n`;
}
