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
  const page = Math.max(1, extent.page - 1);
  const isSpace = name === "text" && text === " " && ctrl !== true;
  if (name === "home") return 0;
  if (name === "end") return clampScroll(extent.rows, extent);
  const steps: Partial<Record<Key["name"], number>> = { up: -1, down: 1, pageup: -page, pagedown: page };
  const by = isSpace ? page : steps[name];
  return by === undefined ? undefined : clampScroll(clampScroll(scroll, extent) + by, extent);
}

/** Limits a scroll position, so that the text does not scroll past its end. */
export function clampScroll(scroll: number, { rows, page }: Extent): number {
  return Math.max(0, Math.min(scroll, rows - page));
}
