import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromiumProgram, openChromium } from "@fairlead/test-servers";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const folder = join(dirname(fileURLToPath(import.meta.url)), "../../../../docs/images");
const cell = { width: 8.4, height: 18 };
const origin = { x: 16, y: 53 };

let browser: Browser;

let close = async (): Promise<void> => {};

beforeAll(async () => {
  const opened = await openChromium("pictures of the docs");
  if (opened === undefined) return;
  browser = opened;
  close = () => opened.close();
});
afterAll(() => close());

interface DrawnCharacter {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Runs in the page. */
const inPage = `[...document.querySelectorAll("g text")].flatMap((word) =>
  Array.from({ length: word.getNumberOfChars() }, (_, at) => {
    const { x, y } = word.getStartPositionOfChar(at);
    return { text: word.textContent.charAt(at), x, y, width: word.getEndPositionOfChar(at).x - x };
  }))`;

/** Returns every character of the screen in a picture, where Chromium draws it. */
async function drawnCharacters(file: string): Promise<readonly DrawnCharacter[]> {
  const page = await browser.newPage();
  await page.goto(pathToFileURL(file).href);
  const drawn = await page.evaluate<DrawnCharacter[]>(inPage);
  await page.close();
  return drawn;
}

/** Puts the characters back into the cells of the screen in which they are drawn. */
function screenOf(drawn: readonly DrawnCharacter[]): string {
  const rows: string[][] = [];
  for (const { text, x, y } of drawn) {
    const row = Math.round((y - origin.y) / cell.height);
    rows[row] ??= [];
    rows[row][Math.round((x - origin.x) / cell.width)] = text;
  }
  const lines = Array.from(rows, (row: string[] | undefined) =>
    Array.from(row ?? [], (text: string | undefined) => text ?? " ").join(""),
  );
  return `${lines.join("\n")}\n`;
}

describe("the pictures of the docs", async () => {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".svg"));

  test("there are pictures, and each has its screen as text beside it", async () => {
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(await readFile(join(folder, name.replace(/svg$/, "txt")), "utf8")).not.toBe("");
  });

  for (const name of chromiumProgram === undefined ? [] : names)
    test(`${name}: Chromium draws each character in its cell of the recorded screen`, async () => {
      const drawn = await drawnCharacters(join(folder, name));
      expect(screenOf(drawn)).toBe(await readFile(join(folder, name.replace(/svg$/, "txt")), "utf8"));
      for (const { text, x, width } of drawn) {
        const column = (x - origin.x) / cell.width;
        expect(Math.abs(column - Math.round(column)), text).toBeLessThan(0.05);
        // A stretched or compressed letter would be wider or narrower than the font draws it.
        expect(width / cell.width, text).toBeGreaterThan(0.8);
        expect(width / cell.width, text).toBeLessThan(1.25);
      }
    });
});
