/** Scroll positions, and the keys that change them. Pure functions. */

import type { Key } from "../input/keys.ts";

/** The height of a text and of the part that fits on the screen, in rows. */
export interface Extent {
  readonly rows: number;
  /** Number of visible rows. */
  readonly page: number;
}

/** Returns the scroll position after a key, or undefined if the key does not scroll. */
export function scrollKey(scroll: number, { name, text, ctrl }: Key, extent: Extent): number | undefined {
  const here = clampScroll(scroll, extent);
  const page = Math.max(1, extent.page - 1);
  switch (name) {
    case "up":
      return clampScroll(here - 1, extent);
    case "down":
      return clampScroll(here + 1, extent);
    case "pageup":
      return clampScroll(here - page, extent);
    case "pagedown":
      return clampScroll(here + page, extent);
    case "home":
      return 0;
    case "end":
      return clampScroll(extent.rows, extent);
    case "text":
      return text === " " && ctrl !== true ? clampScroll(here + page, extent) : undefined;
    case "paste":
    case "enter":
    case "escape":
    case "tab":
    case "backspace":
    case "delete":
    case "insert":
    case "left":
    case "right":
    case "unknown":
      return undefined;
  }
}

/** Limits a scroll position, so that the text does not scroll past its end. */
export function clampScroll(scroll: number, { rows, page }: Extent): number {
  return Math.max(0, Math.min(scroll, rows - page));
}
