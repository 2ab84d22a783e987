// What tells whether a build must be repeated.
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isBuilt } from "../built.mjs";

let folder;
let inputs;
const at = (...names) => join(folder, ...names);
const long = new Date(Date.now() - 3_600_000);
const older = (...paths) => {
  for (const path of paths) utimesSync(path, long, long);
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "built-"));
  mkdirSync(at("src/deep"), { recursive: true });
  for (const name of ["src/a.ts", "src/deep/b.ts", "package.json"]) writeFileSync(at(name), "");
  older(at("src/a.ts"), at("src/deep/b.ts"), at("package.json"), at("src/deep"), at("src"));
  mkdirSync(at("out"));
  inputs = [at("src"), at("package.json")];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Where the file system does not tell when a folder was made, nothing is taken for built. */
const tells = () => statSync(at("out")).birthtimeMs > 0;

test("what is newer than all its inputs is built", () => {
  expect(isBuilt(at("out"), inputs)).toBe(tells());
});

test("what is not there is not built", () => {
  expect(isBuilt(at("nothing"), inputs)).toBe(false);
});

test.each(["src/a.ts", "src/deep/b.ts", "package.json"])("a change of %s calls for another build", (name) => {
  const later = new Date(Date.now() + 1000);
  utimesSync(at(name), later, later);
  expect(isBuilt(at("out"), inputs)).toBe(false);
});

test("so does a file that was removed while the build ran, and an input that is gone", () => {
  const later = new Date(Date.now() + 1000);
  rmSync(at("src/deep/b.ts"));
  utimesSync(at("src/deep"), later, later);
  expect(isBuilt(at("out"), inputs)).toBe(false);
  expect(isBuilt(at("out"), [at("none")])).toBe(false);
});
