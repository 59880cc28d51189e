// A form of several screens: one is shown at a time, and all stay in the document, so that
// what was filled in is there when people come back.

import { t } from "./texts.js";
import { el } from "./view.js";

/**
 * Returns the screens of a form, and what leads from one to the next.
 *
 * @param {HTMLElement[]} screens In their order; the last one has the form's own button.
 * @param {(place: number) => Error | null} missingOn Tells what is missing on a screen.
 * @param {(missing: Error) => void} complain Shows what is missing on the shown screen.
 * @param {(place: number) => void} entered Called before a screen is shown.
 */
export function screensOf(screens, { missingOn, complain, entered }) {
  const last = screens.length - 1;
  const bar = el("progress", { max: last, "aria-hidden": "true" });
  const back = el("button", { type: "button", class: "back", onclick: () => go(at - 1) });
  const next = el("button", { type: "button", onclick: () => forward() });
  let at = 0;
  // Whether people change an answer, after they saw all of them together.
  let isReturning = false;

  function place(shown) {
    at = shown;
    isReturning = isReturning && at !== last;
    entered(at);
    screens.forEach((screen, each) => screen.toggleAttribute("hidden", each !== at));
    bar.value = at;
    bar.toggleAttribute("hidden", at === 0);
    back.toggleAttribute("hidden", at === 0);
    next.toggleAttribute("hidden", at === last);
    back.textContent = t("back");
    next.textContent = isReturning ? t("to-summary") : t("next");
  }

  /** Shows a screen; its heading takes the focus, so that screen readers begin there. */
  function go(shown) {
    place(shown);
    const heading = screens[at].querySelector("h1");
    heading.setAttribute("tabindex", "-1");
    heading.focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  /** Goes to the next screen, or back to the last one, if nothing is missing. */
  function forward() {
    const missing = missingOn(at);
    if (missing) return complain(missing);
    if (!isReturning) return go(at + 1);
    const open = screens.slice(0, last).findIndex((_, each) => missingOn(each));
    return go(open < 0 ? last : open);
  }

  /** Goes back from the last screen to one, from which people return. */
  function change(shown) {
    isReturning = true;
    go(shown);
  }

  place(0);
  return {
    parts: [bar, ...screens, el("div", { class: "steps" }, back, next)],
    go,
    forward,
    change,
    at: () => at,
    isLast: () => at === last,
  };
}
