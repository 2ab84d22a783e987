/**
 * Keeps the keyboard's focus where it was while live data changes the page. If the focused element disappears, because a
 * server no longer needs the button that had the focus, the focus goes to the nearest thing that is still there: a
 * control of the same row, the row's list, or the view's heading. It never falls back to the beginning of the page.
 */

const focusable = "a[href], button, input, select, textarea, [tabindex]";

/** Starts keeping the focus for the whole document. */
export function keepFocus(root: HTMLElement): void {
  /** The focused element with everything around it, the innermost first. */
  let path: readonly HTMLElement[] = [];
  let key: string | undefined;
  document.addEventListener("focusin", ({ target }) => {
    path = ancestors(target);
    key = path[0]?.dataset["focus"];
  });
  // A press beside every control takes the focus away on purpose.
  document.addEventListener("pointerdown", ({ target }) => {
    if (!(target instanceof Element) || target.closest(focusable) === null) path = [];
  });
  new MutationObserver(() => {
    const [last] = path;
    if (last === undefined || !isNowhere() || document.querySelector("dialog[open]") !== null) return;
    if (last.isConnected) return last.focus({ preventScroll: true });
    const same = key === undefined ? null : root.querySelector<HTMLElement>(`[data-focus="${CSS.escape(key)}"]`);
    const around = path.find((element) => element.isConnected);
    const target = same ?? firstControl(around) ?? root.querySelector<HTMLElement>("h1");
    target?.focus({ preventScroll: true });
  }).observe(root, { childList: true, subtree: true });
}

function isNowhere(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/** The first control in the row or the part of the page, but not in the whole page. */
function firstControl(around: HTMLElement | undefined): HTMLElement | null {
  const part = around?.closest<HTMLElement>("tr, li, section, aside, form");
  return part?.querySelector<HTMLElement>(focusable) ?? null;
}

function ancestors(target: EventTarget | null): readonly HTMLElement[] {
  const found: HTMLElement[] = [];
  for (let element = target instanceof HTMLElement ? target : null; element !== null; element = element.parentElement)
    found.push(element);
  return found;
}
