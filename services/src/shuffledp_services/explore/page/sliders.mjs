// Sliders, each beside a field that holds the same number and takes any other, too.

// A slider of people goes from 1 to a thousand million, in steps of a fiftieth of a power of ten.
const STEPS = 450;
const PER_POWER = 50;

const counted = (number) => number.toLocaleString("en");

function peopleAt(step) {
  const people = 10 ** (step / PER_POWER);
  // Two digits: nobody means more with a slider.
  return Number(people.toPrecision(2)) < 10 ? Math.round(people) : Number(people.toPrecision(2));
}

function stepOf(people) {
  return Math.round(PER_POWER * Math.log10(Math.max(Number(people), 1)));
}

function labeled(text, input, kind = "") {
  const label = document.createElement("label");
  label.className = kind;
  label.append(text, input);
  return label;
}

function input(attributes) {
  const element = document.createElement("input");
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// A row of the list of levels; `removed` is called when its button has taken it away.
export function levelRow(level, people, removed) {
  const row = document.createElement("li");
  const budget = input({ type: "number", min: 0, max: 20, step: "any", value: level });
  const number = input({ type: "number", min: 1, max: 1e10, step: 1, value: people });
  const slider = input({ type: "range", min: 0, max: STEPS, step: 1, value: stepOf(people) });
  budget.className = "level";
  number.className = "people";
  const remove = document.createElement("button");
  remove.type = "button";
  remove.textContent = "×";
  const name = () => {
    remove.setAttribute("aria-label", `Remove level ${budget.value}`);
    number.setAttribute("aria-label", `People at level ${budget.value}`);
    slider.setAttribute("aria-label", `People at level ${budget.value}, slider`);
    slider.setAttribute("aria-valuetext", `${counted(Number(number.value))} people`);
  };
  slider.addEventListener("input", () => {
    number.value = peopleAt(Number(slider.value));
  });
  number.addEventListener("input", () => {
    slider.value = stepOf(number.value);
  });
  row.addEventListener("input", name);
  remove.addEventListener("click", () => {
    row.remove();
    removed();
  });
  row.append(labeled("Epsilon", budget), labeled("People", number), remove, labeled("", slider, "slide"));
  name();
  return row;
}

// Small whole numbers one by one, then ten in every power of ten: a key always moves a number.
const ROUND = [10, 12, 15, 20, 25, 30, 40, 50, 60, 80];

function wholeAt(step) {
  const beyond = step - 9;
  return beyond < 0 ? step + 1 : ROUND[beyond % 10] * 10 ** Math.floor(beyond / 10);
}

function stepOfWhole(text) {
  const number = Math.min(Number(text) || 1, 1e12);
  let step = 0;
  while (wholeAt(step + 1) <= number) step += 1;
  return step;
}

// What a step of a slider means, which step a number is, and how it is read aloud.
const MEANINGS = {
  delta: {
    at: (step) => Number((10 ** (step / 10)).toPrecision(2)).toExponential(),
    step: (text) => Math.round(10 * Math.log10(Number(text))),
    said: (text) => `delta ${text}`,
  },
  rounds: {
    at: wholeAt,
    step: stepOfWhole,
    said: (text) => (Number(text) === 1 ? "1 round" : `${counted(Number(text))} rounds`),
  },
  absent: {
    // The first step is nobody.
    at: (step) => (step === 0 ? 0 : wholeAt(step - 1)),
    step: (text) => (Number(text) < 1 ? 0 : stepOfWhole(text) + 1),
    said: (text) => `${counted(Number(text))} absent`,
  },
};

// Ties the slider of a field to it; returns what sets the slider to what the field says.
export function tie(name, field, slider) {
  const { at, step, said } = MEANINGS[name];
  const say = () => slider.setAttribute("aria-valuetext", said(field.value));
  const follow = () => {
    slider.value = step(field.value);
    say();
  };
  slider.addEventListener("input", () => {
    const most = Number(field.max || Infinity);
    const value = at(Number(slider.value));
    field.value = value > most ? most : value;
    say();
  });
  field.addEventListener("input", follow);
  return follow;
}

// Of so many people one less may be absent.
export function limitAbsent(field, slider, people) {
  field.max = Math.max(people - 1, 0);
  slider.max = MEANINGS.absent.step(field.max);
}
