// Elements of the page. Texts are set as text, so that a survey cannot inject markup.

/** Returns an element with attributes (on* are listeners) and children. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Shows a view; its heading takes the focus, so that screen readers begin there. */
export function show(...children) {
  const view = document.getElementById("view");
  view.replaceChildren(...children.filter((child) => child !== null));
  const heading = view.querySelector("h1");
  heading.setAttribute("tabindex", "-1");
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** Shows the current activity in the status line. */
export function say(text) {
  document.getElementById("status").textContent = text;
}

/** Returns a choice of one or several, each an own line with a large target. */
export function choices(name, texts, { kind = "radio", onchange = () => {}, lang = null } = {}) {
  return el(
    "div",
    { class: "choices", lang, dir: lang && "auto" },
    ...texts.map((text, place) => choice(name, place, kind, onchange, text)),
  );
}

/** Returns one card of a choice. */
export function choice(name, place, kind, onchange, ...content) {
  return el(
    "label",
    { class: "choice" },
    el("input", { type: kind, name, value: place, onchange }),
    el("span", { class: "mark", "aria-hidden": "true" }),
    el("span", { class: "said" }, ...content),
  );
}

/** Returns the indices of the checked inputs of a name. */
export function picked(name) {
  const inputs = document.querySelectorAll(`input[name="${name}"]:checked`);
  return [...inputs].map((input) => Number(input.value));
}

/** Returns a part that opens on demand. */
export function details(summary, ...children) {
  return el("details", {}, el("summary", {}, summary), ...children);
}

/** Lets the browser ask before the page is left, or no longer. */
export function askBeforeLeaving(asked) {
  if (asked) addEventListener("beforeunload", keepOpen);
  else removeEventListener("beforeunload", keepOpen);
}

function keepOpen(event) {
  event.preventDefault();
}
