import { expect, test } from "vitest";
import type { Key } from "../../../src/tui/input/keys.ts";
import { clampScroll, scrollKey } from "../../../src/tui/state/scroll.ts";

const extent = { rows: 30, page: 10 };

test.each<[Key, next: number | undefined]>([
  [{ name: "up" }, 4],
  [{ name: "down" }, 6],
  [{ name: "pageup" }, 0],
  [{ name: "pagedown" }, 14],
  [{ name: "home" }, 0],
  [{ name: "end" }, 20],
  [{ name: "text", text: " " }, 14],
  [{ name: "text", text: " ", ctrl: true }, undefined],
  [{ name: "text", text: "x" }, undefined],
  [{ name: "paste", text: " " }, undefined],
  [{ name: "enter" }, undefined],
  [{ name: "escape" }, undefined],
  [{ name: "tab" }, undefined],
  [{ name: "backspace" }, undefined],
  [{ name: "delete" }, undefined],
  [{ name: "insert" }, undefined],
  [{ name: "left" }, undefined],
  [{ name: "right" }, undefined],
  [{ name: "unknown" }, undefined],
])("%j at row 5 shows row %j first", (key, next) => {
  expect(scrollKey(5, key, extent)).toBe(next);
});

test("a page of one row moves by one row, and larger pages keep one row in sight", () => {
  expect(scrollKey(5, { name: "pagedown" }, { rows: 30, page: 1 })).toBe(6);
  expect(scrollKey(5, { name: "pagedown" }, { rows: 30, page: 2 })).toBe(6);
  expect(scrollKey(5, { name: "pageup" }, { rows: 30, page: 3 })).toBe(3);
  expect(scrollKey(5, { name: "text", text: " " }, { rows: 30, page: 3 })).toBe(7);
});

test.each([
  [-1, 0],
  [0, 0],
  [20, 20],
  [21, 20],
  [Number.POSITIVE_INFINITY, 20],
])("the scroll position %d becomes %d", (scroll, next) => {
  expect(clampScroll(scroll, extent)).toBe(next);
  expect(clampScroll(scroll, { rows: 5, page: 10 })).toBe(0);
});
