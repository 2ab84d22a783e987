import { HostError } from "@fairlead/core/errors";
import { safe } from "@fairlead/core/text/safe-text";
import { expect, test } from "vitest";
import type { Context } from "../../src/shell/verb.ts";
import { captured, plainStyle, runVerbHere } from "../../src/tui/captured.ts";
import { machine } from "../support/machine.ts";
import { contextOf } from "../support/tui/session-scene.ts";

test("output is captured in its order, without colours and blank ends, with commands that can be typed in the app", async () => {
  await using here = await machine();
  const { context, text } = captured(contextOf(here, {}));
  expect(text()).toBe("");
  context.io.stdout.write("\n \u001b[1mone\u001b[22m\n");
  context.io.stderr.write("two\n");
  context.io.stdout.write("next: fairlead mcp list \n\n");
  expect(text()).toBe("\n one\ntwo\nnext: /mcp list");
});

test("the captured output is a terminal only if it has a width, and has no input", async () => {
  await using here = await machine();
  const { io: wide } = captured(contextOf(here, {}), 33).context;
  expect([wide.stdout.isTTY, wide.stdout.columns]).toEqual([true, 33]);
  const { io: endless } = captured(contextOf(here, {})).context;
  expect([endless.stdout.isTTY, endless.stdout.columns]).toEqual([undefined, undefined]);
  const read: unknown[] = [];
  for await (const chunk of wide.stdin) read.push(chunk);
  expect(read).toEqual([]);
});

test("the app's own style changes nothing", () => {
  expect(Object.keys(plainStyle)).toEqual(["bold", "dim", "red", "green", "yellow", "cyan"]);
  for (const style of Object.values(plainStyle)) expect(style(safe`x`)).toBe("x");
});

/** A command that writes this text and then fails with this error, if there is one. */
async function run(text: string, error?: Error): Promise<unknown> {
  await using here = await machine();
  const asked: unknown[] = [];
  const context: Context = {
    ...contextOf(here, {}),
    async runWords(words, io) {
      asked.push(words, io.stdout.columns);
      io.stdout.write(text);
      if (error !== undefined) throw error;
    },
  };
  const told = await runVerbHere(["mcp", "list"], context, 44).catch((failure: unknown) => failure);
  expect(asked).toEqual([["mcp", "list"], 44]);
  return told;
}

test("a command runs with its words and the width of the app, and its output is returned", async () => {
  expect(await run("one\n")).toBe("one");
});

test("the error of a command begins with the output of the command", async () => {
  const error = new HostError("usage", "it failed", { next: "do this" });
  expect(await run("", error)).toBe(error);
  const told = await run("one\n", error);
  expect(told).toMatchObject({ code: "usage", message: "one\nit failed", next: "do this" });
  const bare = await run("one\n", new HostError("usage", "it failed"));
  expect(bare).toMatchObject({ code: "usage", message: "one\nit failed" });
  expect(bare).not.toHaveProperty("next", expect.anything());
  const defect = new TypeError("a defect");
  expect(await run("one\n", defect)).toBe(defect);
});
