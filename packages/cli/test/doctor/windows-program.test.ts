import { expect, test } from "vitest";
import { findOnWindows } from "../../src/doctor/program-facts.ts";

const env = { Path: "C:\\a;C:\\b", PATHEXT: ".EXE;.CMD" };

test.each([
  ["npx", ["C:\\b\\npx.cmd", "C:\\b\\npx.ps1"], { file: "C:\\b\\npx.cmd" }],
  ["npx", ["C:\\a\\npx.ps1", "C:\\b\\npx.exe"], { file: "C:\\b\\npx.exe" }],
  ["npx", ["C:\\b\\npx.ps1"], { script: "C:\\b\\npx.ps1" }],
  ["npx.cmd", ["C:\\a\\npx.cmd"], { file: "C:\\a\\npx.cmd" }],
  ["npx", ["C:\\c\\npx.cmd"], {}],
  ["C:\\c\\server", ["C:\\c\\server.exe"], { file: "C:\\c\\server.exe" }],
])("%s among %j", async (command, files, found) => {
  expect(await findOnWindows(command, env, async (path) => files.includes(path))).toEqual(found);
});
