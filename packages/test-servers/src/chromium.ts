/** The machine's Chromium, for tests of pages and pictures. */

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Browser } from "playwright-core";
import { noteProgram } from "./tested-with.ts";

/** Where `chromium` is on the `PATH`. Undefined if this machine has none. */
export const chromiumProgram: string | undefined = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "chromium"))
  .find(isProgram);

const switches = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Starts Chromium without a window. Prints what is tested in it, or that Chromium is absent.
 *
 * @param more More switches of Chromium.
 */
export async function openChromium(subject: string, more: readonly string[] = []): Promise<Browser | undefined> {
  if (chromiumProgram === undefined) {
    noteProgram(subject, "Chromium", undefined);
    return undefined;
  }
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: chromiumProgram, args: [...switches, ...more] });
  noteProgram(subject, "Chromium", browser.version());
  return browser;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
