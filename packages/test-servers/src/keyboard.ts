/** A person who uses a page with the keyboard alone: at each step the focus must be visible, and must not be lost. */

import type { Page } from "playwright-core";

interface Focus {
  /** The accessible name or the text of the focused element. Undefined if nothing on the page has the focus. */
  readonly name?: string;
  /** Why a person would not see the focus. */
  readonly hidden?: string;
}

/** Runs in the page. Written as text: this package's types are those of Node. */
const focusNow = `(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return {};
  const { x, y, width, height, right, bottom } = element.getBoundingClientRect();
  const { outlineStyle, outlineWidth, opacity } = getComputedStyle(element);
  const isOutside = right <= 0 || bottom <= 0 || x >= innerWidth || y >= innerHeight;
  const hasOutline = outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0 && opacity !== "0";
  const hidden = width < 2 || height < 2 ? "it has no size"
    : isOutside ? "it is outside of the window"
    : hasOutline ? undefined : "it has no outline";
  const name = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent ?? "";
  return { name: name.replaceAll(/\\s+/g, " ").trim(), hidden };
})()`;

/** Reads where the focus is, and whether a person sees it. */
export function readFocus(page: Page): Promise<Focus> {
  return page.evaluate(focusNow) as Promise<Focus>;
}

/** The name of the focused element, or its text. Empty if nothing has the focus. */
export async function focusedName(page: Page): Promise<string> {
  return (await readFocus(page)).name ?? "";
}

/**
 * Presses Tab until the focused element has this name. Fails if the focus comes round without it, or if a person could not
 * see the focus on the way.
 */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const seen: string[] = [];
  for (let count = 0; count < 150; count += 1) {
    await page.keyboard.press("Tab");
    const focus = await readFocus(page);
    if (focus.hidden !== undefined) throw new Error(`the focus is on ${focus.name}, but ${focus.hidden}`);
    const focused = focus.name ?? "";
    if (typeof name === "string" ? focused === name : name.test(focused)) return;
    seen.push(focused.slice(0, 40));
  }
  throw new Error(`the keyboard does not reach ${String(name)}; it reached ${seen.join(" | ")}`);
}
