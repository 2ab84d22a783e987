import { Command } from "commander";
import { expect, test } from "vitest";
import { checkHttpOptions, defineHttpOptions, toPort } from "../../src/shell/http-server.ts";
import { writtenOutput } from "../support/written-output.ts";

const { context } = writtenOutput();

test("the command has the options --http and --port", () => {
  const command = new Command("x");
  defineHttpOptions(command);
  expect(command.options.map(({ flags, description }) => [flags, description])).toEqual([
    ["--http", "listen for HTTP clients on the loopback address instead of using stdio"],
    ["--port <number>", "the port for --http; default: any free port"],
  ]);
});

test.each([
  [undefined, 0],
  ["0", 0],
  ["4100", 4100],
  ["65535", 65_535],
])("the port %s is %i", (word, port) => {
  expect(toPort(word, context)).toBe(port);
});

test.each(["65536", "99999", "100000", "000001", "-1", "1.5", "", "x", "1x"])("%j is no port", (word) => {
  expect(() => toPort(word, context)).toThrow(
    expect.objectContaining({
      code: "usage",
      message: `--port must be a number from 0 to 65535, not "${word}"`,
      next: "fairlead x --help",
    }) as Error,
  );
});

test("the user can give a port only with --http", () => {
  for (const options of [{}, { http: true }, { http: true, port: "1" }])
    expect(checkHttpOptions(options, context)).toBeUndefined();
  for (const options of [{ port: "1" }, { http: false, port: "1" }])
    expect(() => checkHttpOptions(options, context)).toThrow("--port works only with --http");
});
