import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { findOnWindows } from "../../src/doctor/check-programs.ts";

const env = { Path: "C:\\a;C:\\b", PATHEXT: ".EXE;.CMD" };

test.each([
  ["npx", ["C:\\b\\npx.cmd", "C:\\b\\npx.ps1"], { file: "C:\\b\\npx.cmd" }],
  ["npx", ["C:\\a\\npx.ps1", "C:\\b\\npx.exe"], { file: "C:\\b\\npx.exe" }],
  ["npx", ["C:\\b\\npx.ps1"], { script: "C:\\b\\npx.ps1" }],
  ["npx", ["C:\\a\\npx.ps1", "C:\\b\\npx.ps1"], { script: "C:\\a\\npx.ps1" }],
  ["npx", ["C:\\a\\npx", "C:\\a\\npx.bat"], {}],
  ["npx", ["C:\\b\\npx.exe", "C:\\a\\npx.cmd", "C:\\a\\npx.exe"], { file: "C:\\a\\npx.exe" }],
  ["NPX.CMD", ["C:\\b\\NPX.CMD", "C:\\a\\NPX.CMD.exe"], { file: "C:\\b\\NPX.CMD" }],
  ["run.ps1", ["C:\\b\\run.ps1"], { script: "C:\\b\\run.ps1" }],
  ["run.ps1", ["C:\\b\\run.ps1.ps1"], {}],
  ["bin/server", ["bin/server.cmd", "C:\\a\\bin\\server.exe"], { file: "bin/server.cmd" }],
  ["npx.cmd", ["C:\\a\\npx.cmd"], { file: "C:\\a\\npx.cmd" }],
  ["npx", ["C:\\c\\npx.cmd"], {}],
  ["C:\\c\\server", ["C:\\c\\server.exe"], { file: "C:\\c\\server.exe" }],
])("%s among %j", async (command, files, found) => {
  expect(await findOnWindows(command, env, async (path) => files.includes(path))).toEqual(found);
});

test("without PATHEXT the usual endings count, and without PATH nothing is found", async () => {
  const isFile = async (path: string): Promise<boolean> => path === "C:\\a\\npx.bat" || path === "npx.bat";
  expect(await findOnWindows("npx", { PATH: ";C:\\a" }, isFile)).toEqual({ file: "C:\\a\\npx.bat" });
  expect(await findOnWindows("npx", {}, isFile)).toEqual({});
});

test("only a file is a program", async () => {
  await using here = await temporaryFolder();
  const file = await here.write("server.exe", "");
  expect(await findOnWindows(file, env)).toEqual({ file });
  expect(await findOnWindows(here.path, { PATHEXT: "" })).toEqual({});
});
