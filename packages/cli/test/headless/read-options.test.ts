import { HostError } from "@fairlead/core/errors";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { defineOptions, readOptions } from "../../src/headless/options.ts";
import { writtenOutput } from "../support/written-output.ts";

/** The options that were read, or the message of the error. */
function read(argv: readonly string[], json = false): unknown {
  const command = new Command("fairlead -p").exitOverride().configureOutput({ writeErr: () => {} });
  defineOptions(command);
  const { globals } = writtenOutput({ json }).context;
  try {
    command.parse(["-p", "Hello", ...argv], { from: "user" });
    return readOptions({ command, globals });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error instanceof HostError ? [error.code, error.message] : error.message;
  }
}

const usual = {
  typed: "Hello",
  format: "text",
  mode: "default",
  allow: [],
  servers: undefined,
  model: undefined,
  wait: undefined,
  maxTurns: undefined,
  failOnDenied: false,
  resuming: { continue: false },
};

describe("the user gives options with -p", () => {
  test.each<[argv: readonly string[], more: object]>([
    [[], {}],
    [["--output-format", "text"], {}],
    [["--output-format", "json"], { format: "json" }],
    [["--output-format", "stream-json"], { format: "stream-json" }],
    [["--approval-mode", "default"], {}],
    [["--approval-mode", "plan"], { mode: "plan" }],
    [["--approval-mode", "yolo"], { mode: "yolo" }],
    [["--allow", "b.c", "--allow", "a"], { allow: ["b.c", "a"] }],
    [["--servers", "b, a,b ,c"], { servers: ["b", "a", "c"] }],
    [["-m", "x"], { model: "x" }],
    [["--wait", "2s"], { wait: 2000 }],
    [["--max-turns", "1"], { maxTurns: 1 }],
    [["--fail-on-denied"], { failOnDenied: true }],
    [["--continue"], { resuming: { continue: true } }],
    [["--resume"], { resuming: { continue: false, resume: true } }],
    [["--resume", "id"], { resuming: { continue: false, resume: "id" } }],
  ])("%j", (argv, more) => {
    expect(read(argv)).toEqual({ ...usual, ...more });
  });

  test("and --json means the format json", () => {
    expect(read([], true)).toEqual({ ...usual, format: "json" });
    expect(read(["--output-format", "json"], true)).toEqual({ ...usual, format: "json" });
    for (const format of ["text", "stream-json"])
      expect(read(["--output-format", format], true)).toEqual([
        "usage",
        `--json and --output-format ${format} cannot be combined`,
      ]);
  });

  test.each<[argv: readonly string[], message: string]>([
    [["--servers", ""], '--servers must be names separated by commas, not ""'],
    [["--servers", "a,,b"], '--servers must be names separated by commas, not "a,,b"'],
    [["--wait", "soon"], '--wait must be a time such as 500ms, 10s or 2m, not "soon"'],
    [["--max-turns", "0"], '--max-turns must be a whole number above zero, not "0"'],
    [["--max-turns", "-1"], '--max-turns must be a whole number above zero, not "-1"'],
    [["--max-turns", "1.5"], '--max-turns must be a whole number above zero, not "1.5"'],
    [["--max-turns", "x"], '--max-turns must be a whole number above zero, not "x"'],
  ])("and learns what is wrong with %j", (argv, message) => {
    expect(read(argv)).toEqual(["usage", message]);
  });

  test("and learns which values an option has", () => {
    expect(read(["--output-format", "x"])).toContain("Allowed choices are text, json, stream-json.");
    expect(read(["--approval-mode", "x"])).toContain("Allowed choices are default, plan, yolo.");
  });
});
