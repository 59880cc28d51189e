// The package as others get it: packed, installed into an empty folder, type-checked, bundled.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { caseNamed, memory } from "./vectors.mjs";

const DEVICE = fileURLToPath(new URL("..", import.meta.url));
const tool = (name) => join(DEVICE, "node_modules", ".bin", name);
const run = promisify(execFile);

let folder;
let packed;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "shuffledp-device-"));
  const options = ["--ignore-scripts", "--json", "--pack-destination", folder];
  const { stdout } = await run("npm", ["pack", ...options], { cwd: DEVICE });
  [packed] = JSON.parse(stdout);
  await writeFile(join(folder, "package.json"), '{"type":"module","private":true}');
  const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  await run("npm", [...install, join(folder, packed.filename)], { cwd: folder });
});

after(() => rm(folder, { recursive: true }));

test("the tarball has the code, its types, its license, and nothing else", () => {
  const paths = packed.files.map(({ path }) => path);

  const others = paths.filter((path) => !/^dist\/[\w/-]+\.(js|d\.ts)$/.test(path));
  assert.deepEqual(others.sort(), ["LICENSE", "README.md", "package.json"]);
  assert.ok(paths.includes("dist/index.js") && paths.includes("dist/index.d.ts"));
  assert.ok(packed.size < 60_000, `${packed.size} bytes`);
});

/** Returns the first block of a language in the README. */
async function readmeBlock(language) {
  const text = await readFile(join(DEVICE, "README.md"), "utf8");
  return new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(text)[1];
}

test("the README's example has the types of the package", async () => {
  await writeFile(join(folder, "example.ts"), await readmeBlock("ts"));
  const strict = ["--strict", "--noEmit", "--target", "es2022", "--types", ""];
  const options = ["--module", "nodenext", "--lib", "es2023,dom", ...strict];

  await run(tool("tsc"), [...options, "example.ts"], { cwd: folder });

  await writeFile(join(folder, "wrong.ts"), 'import { readLink } from "shuffledp-device";\nreadLink(3);\n');
  await assert.rejects(run(tool("tsc"), [...options, "wrong.ts"], { cwd: folder }), ({ stdout }) =>
    stdout.includes("TS2345"),
  );
});

test("a page that was bundled with the package randomizes an answer", async () => {
  const page = `
    import { Device, formOf, meaningOf, readSurvey } from "shuffledp-device";

    export async function answer(served, storage) {
      const survey = { ...(await readSurvey(served)), isOpen: true, hasBegun: true };
      const link = { token: new Uint8Array(32), secret: new Uint8Array(32), epoch: survey.step.epoch, task: survey.fingerprint };
      const report = await new Device(storage).prepare(survey, link, 2, 1);
      return { form: formOf(survey.task), meaning: meaningOf(survey.task, report.messages), body: report.body };
    }`;
  await writeFile(join(folder, "page.js"), page);
  const options = ["--bundle", "--format=esm", "--minify", "--outfile=bundle.js", "--log-level=error"];

  await run(tool("esbuild"), ["page.js", ...options], { cwd: folder });

  // From a folder without packages: everything is in the bundle.
  const alone = join(folder, "alone.mjs");
  await writeFile(alone, await readFile(join(folder, "bundle.js")));
  await rm(join(folder, "node_modules"), { recursive: true });
  const { answer } = await import(pathToFileURL(alone));
  const { served, upload } = caseNamed("frequency, agnostic");
  const { form, meaning, body } = await answer(served, memory().storage);
  assert.deepEqual(form.options, ["a", "b", "c"]);
  assert.equal(meaning.kind, "one option");
  assert.equal(body.length, upload.length / 2);
});

test("the version is that of the Python packages", async () => {
  const { version } = JSON.parse(await readFile(join(DEVICE, "package.json"), "utf8"));
  const python = await readFile(join(DEVICE, "../src/shuffledp/version.py"), "utf8");

  assert.match(python, new RegExp(`^__version__ = "${version.replaceAll(".", "\\.")}"$`, "m"));
});
