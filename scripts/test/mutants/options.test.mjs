import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readOptions } from "../../mutants/options.mjs";
import { UsageError } from "../../usage.mjs";

test("numbers are read as numbers, and options that are not given have their defaults", () => {
  expect(readOptions(["--seed", "7"])).toMatchObject({ count: undefined, workers: 2, at: [], folder: [], help: false });
  expect(readOptions(["--count", "25", "--workers", "4"])).toMatchObject({ count: 25, workers: 4 });
});

test.each([
  [["--count", "x"], '--count needs a whole number from 1 to 999999999, not "x"'],
  [["--count", "0"], '--count needs a whole number from 1 to 999999999, not "0"'],
  [["--count", "1.5"], '--count needs a whole number from 1 to 999999999, not "1.5"'],
  [["--workers", ""], '--workers needs a whole number from 1 to 999999999, not ""'],
  [["--nope"], "Unknown option '--nope'"],
  [["--again", "/no/such/file.json"], "cannot read the file of --again: ENOENT"],
])("the options %j are refused with a message that names the mistake", (args, sentence) => {
  expect(() => readOptions(args)).toThrow(UsageError);
  expect(() => readOptions(args)).toThrow(sentence);
});

test("--again gives the survivors that the file lists, and refuses a file that --json did not write", () => {
  const folder = mkdtempSync(join(tmpdir(), "mutants-"));
  const file = join(folder, "results.json");
  try {
    const survivor = { file: "packages/core/src/errors.ts", state: "survived" };
    writeFileSync(file, JSON.stringify({ seed: "1", results: [{ state: "killed" }, survivor] }));
    expect(readOptions(["--again", file]).again).toEqual([survivor]);
    for (const content of ["[]", "null"]) {
      writeFileSync(file, content);
      expect(() => readOptions(["--again", file])).toThrow(`${file} has no "results"`);
    }
    writeFileSync(file, "{");
    expect(() => readOptions(["--again", file])).toThrow("cannot read the file of --again");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
