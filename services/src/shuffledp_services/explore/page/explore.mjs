// The page: its controls are the address, and the address is what the server is asked.

import { refuse, show, showQuick, tabulate, wait } from "/answer.mjs";
import { profilesPicture } from "/pictures.mjs";
import { levelRow, limitAbsent, tie } from "/sliders.mjs";

const USUAL = "0.5:2500,1:5000,2:2500";
const MAX_LEVELS = 12;
// What takes longer is shown as it is certified at once, until the tight number is there.
const QUICK = 60;
// If not even that is there, it is said to be on its way, and the old answer goes.
const PATIENCE = 150;
// What people do while a slider moves is one step for the back button.
const QUIET = 600;

const found = (id) => document.getElementById(id);
const form = found("controls");
const field = (name) => form.elements.namedItem(name);
const slider = (name) => found(`${name}-slider`);
// All mechanisms, each with its statistic; the list shows those of the one that is chosen.
const MECHANISMS = [...field("mechanism").options];
// What a statistic or a mechanism has to be told, by the name of its field.
const TOLD = [...form.querySelectorAll("label[data-of] input")].map((input) => input.name);
const SLID = ["delta", "rounds", "absent"];
const follow = SLID.map((name) => tie(name, field(name), slider(name)));

let asking = null;
let stepping = null;

function addLevel(level, people) {
  const removed = () => {
    found("add").focus();
    changed();
  };
  found("levels").append(levelRow(level, people, removed));
}

function rows() {
  return [...found("levels").children];
}

function levelsText() {
  return rows()
    .map((row) => `${row.querySelector(".level").value}:${row.querySelector(".people").value}`)
    .join(",");
}

// Lists mechanisms of the statistic, and shows what it has to be told.
function suit() {
  const statistic = chosen().value;
  const mechanism = field("mechanism");
  const before = mechanism.value;
  mechanism.replaceChildren(...MECHANISMS.filter((option) => option.dataset.of === statistic));
  const kept = [...mechanism.options].find((option) => option.value === before);
  (kept ?? mechanism.options[0]).selected = true;
  const owners = [statistic, mechanism.value];
  for (const label of form.querySelectorAll("label[data-of]")) {
    label.hidden = !label.dataset.of.split(" ").some((owner) => owners.includes(owner));
  }
  found("valued").textContent = chosen().dataset.label;
}

function chosen() {
  const statistics = field("statistic");
  // An address may name one that there is not: the server refuses it in a sentence.
  return statistics.selectedOptions[0] ?? statistics.options[0];
}

// Names of the fields that bound the value to estimate, if any do.
function bounds() {
  return chosen().dataset.between.split(" ").filter(Boolean);
}

// The value to estimate, unless an address says another.
function usualValue() {
  const { usual } = chosen().dataset;
  if (usual !== "") return usual;
  const [low, high] = bounds().map((name) => Number(field(name).value));
  return (low + high) / 2;
}

function limit() {
  const all = rows();
  found("add").disabled = all.length >= MAX_LEVELS;
  for (const row of all) row.querySelector("button").disabled = all.length === 1;
  const people = all.reduce((sum, row) => sum + Number(row.querySelector(".people").value), 0);
  limitAbsent(field("absent"), slider("absent"), people);
}

function query() {
  const given = new URLSearchParams();
  for (const name of ["statistic", "mechanism", "mode", ...TOLD]) {
    if (!field(name).closest("label").hidden) given.set(name, field(name).value);
  }
  given.set("levels", levelsText());
  for (const name of ["delta", "absent", "rounds", "value"]) given.set(name, field(name).value);
  return given.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
}

// Sets the controls to what an address says.
function read(address) {
  const given = new URLSearchParams(address);
  for (const name of ["statistic", "mode", ...TOLD, ...SLID]) {
    const usual = field(name).tagName === "SELECT" ? field(name).options[0].value : field(name).defaultValue;
    field(name).value = given.get(name) ?? usual;
  }
  suit();
  field("mechanism").value = given.get("mechanism") ?? field("mechanism").options[0].value;
  suit();
  field("value").value = given.get("value") ?? usualValue();
  found("levels").replaceChildren();
  for (const part of (given.get("levels") ?? USUAL).split(",").slice(0, MAX_LEVELS)) {
    addLevel(...part.split(":", 2));
  }
  limit();
  for (const set of follow) set();
}

function changed() {
  limit();
  // The first change after a pause is a step back; those that follow at once belong to it,
  // and are written after them: browsers take so many addresses and no more.
  if (stepping === null) history.pushState(null, "", `?${query()}`);
  clearTimeout(stepping);
  stepping = setTimeout(settle, QUIET);
  ask(query());
}

class Refused extends Error {}

function settle() {
  stepping = null;
  history.replaceState(null, "", `?${query()}`);
}

async function asked(path, text, signal) {
  const response = await fetch(`/${path}?${text}`, { signal });
  const content = await response.json();
  if (!response.ok) throw new Refused(content.detail);
  return content;
}

// Takes long, and so is asked for by a button; what changes takes the answer away.
async function askPlanner() {
  const { signal } = asking;
  found("plan").hidden = true;
  found("planned").textContent = "Computing: this may take a minute …";
  try {
    const plan = await asked("plan", query(), signal);
    if (signal.aborted) return;
    found("planned").textContent = [plan.reason, ...plan.left_out.map((why) => `Left out: ${why}`)].join(" ");
    tabulate("options", plan.options.map(({ name, mode, error, worst }) => [name, mode === "agnostic" ? "apart" : "with messages", error, worst]));
    found("plan").hidden = false;
  } catch (error) {
    if (!signal.aborted) found("planned").textContent = reason(error);
  }
}

// Shows what is certified at once, unless the answer itself is as quick.
function askQuick(text, signal) {
  let wanted = true;
  const pause = new Promise((resume) => setTimeout(resume, QUICK));
  Promise.all([asked("quick", text, signal), pause])
    .then(([answer]) => {
      if (wanted && !signal.aborted) showQuick(answer, text);
    })
    // The answer says what is wrong.
    .catch(() => {});
  return { stop: () => { wanted = false; } };
}

async function ask(text) {
  asking?.abort();
  found("planned").textContent = "";
  found("plan").hidden = true;
  asking = new AbortController();
  const { signal } = asking;
  found("answer").setAttribute("aria-busy", "true");
  found("answer").dataset.shows = "before";
  const quick = askQuick(text, signal);
  const late = setTimeout(() => {
    if (found("answer").dataset.shows === "before") wait();
  }, PATIENCE);
  try {
    const answer = await asked("answer", text, signal);
    if (signal.aborted) return;
    quick.stop();
    show(answer, text);
  } catch (error) {
    quick.stop();
    if (!signal.aborted) refuse(reason(error));
    return;
  } finally {
    clearTimeout(late);
    if (!signal.aborted) found("answer").setAttribute("aria-busy", "false");
  }
  found("profiles").textContent = "Computing: of several rounds this may take a minute …";
  try {
    const { profiles } = await asked("profiles", text, signal);
    if (!signal.aborted) found("profiles").replaceChildren(profilesPicture(profiles));
  } catch (error) {
    if (!signal.aborted) found("profiles").textContent = reason(error);
  }
}

function reason(error) {
  return error instanceof Refused
    ? error.message
    : "The server does not answer: start shuffledp explore again.";
}

field("statistic").addEventListener("input", () => {
  suit();
  for (const name of bounds()) field(name).value = field(name).defaultValue;
  field("value").value = usualValue();
});
field("mechanism").addEventListener("input", suit);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", changed);
found("add").addEventListener("click", () => {
  const last = Math.max(...rows().map((row) => Number(row.querySelector(".level").value)));
  addLevel(Math.min(last + 0.5, 20), 1000);
  found("levels").lastElementChild.querySelector(".level").focus();
  changed();
});
found("ask-planner").addEventListener("click", askPlanner);
addEventListener("popstate", () => {
  clearTimeout(stepping);
  stepping = null;
  read(location.search);
  ask(query());
});

read(location.search);
// A link that makes no sense is refused as it stands.
ask(location.search.slice(1) || query());
