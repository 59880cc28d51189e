// Pictures of an answer, as SVG; every number in them stands in words beside them.

const SVG = "http://www.w3.org/2000/svg";
const COLORS = 6;
// The profile is drawn down to here.
const SMALLEST = 1e-12;

function made(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function picture(wide, high, label) {
  return made("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": label });
}

// The interval that an estimate would have, within the range of what is estimated.
export function intervalPicture(error, label) {
  const [low, high] = error.range;
  const at = (value) => 10 + 380 * Math.min(Math.max((value - low) / (high - low), 0), 1);
  const drawn = picture(400, 48, label);
  const [from, to] = error.interval.map(at);
  drawn.append(
    made("line", { class: "axis", x1: 10, x2: 390, y1: 14, y2: 14 }),
    made("rect", { class: "bar", x: from, y: 7, width: Math.max(to - from, 1), height: 14, rx: 3 }),
    made("circle", { class: "dot", cx: at(error.value), cy: 14, r: 4 }),
    made("text", { x: 10, y: 42 }, String(low)),
    made("text", { x: 390, y: 42, "text-anchor": "end" }, String(high)),
  );
  return drawn;
}

// Delta at every epsilon, on a logarithmic scale: a line certified, a dashed one attacked.
export function profilesPicture(profiles) {
  const names = profiles.map((profile) => profile.level).join(", ");
  const drawn = picture(440, 320, `Privacy profiles of levels ${names}`);
  const end = Math.max(...profiles.flatMap((profile) => profile.epsilons), 1e-300);
  const x = (epsilon) => 50 + (350 * epsilon) / end;
  const y = (delta) => 10 + (280 * Math.log10(Math.max(delta, SMALLEST))) / Math.log10(SMALLEST);
  for (let power = 0; power >= -12; power -= 3) {
    drawn.append(
      made("line", { class: "axis", x1: 50, x2: 400, y1: y(10 ** power), y2: y(10 ** power) }),
      made("text", { x: 45, y: y(10 ** power) + 4, "text-anchor": "end" }, power ? `1e${power}` : "1"),
    );
  }
  drawn.append(
    made("text", { x: 50, y: 306 }, "0"),
    made("text", { x: 400, y: 306, "text-anchor": "end" }, end.toPrecision(3)),
    made("text", { x: 225, y: 312, "text-anchor": "middle" }, "epsilon"),
  );
  profiles.forEach((profile, place) => {
    for (const [kind, deltas] of [["", profile.certified], [" shown", profile.attacked]]) {
      const points = profile.epsilons
        .map((epsilon, i) => [epsilon, deltas[i]])
        .filter(([, delta]) => delta >= SMALLEST / 10)
        .map(([epsilon, delta]) => `${x(epsilon).toFixed(1)},${y(delta).toFixed(1)}`);
      const look = `curve c${place % COLORS}${kind}`;
      drawn.append(made("polyline", { class: look, points: points.join(" ") }));
    }
    const last = x(profile.epsilons.at(-1));
    drawn.append(made("text", { x: last + 4, y: 288 - 13 * (place % 3) }, profile.level));
  });
  return drawn;
}
