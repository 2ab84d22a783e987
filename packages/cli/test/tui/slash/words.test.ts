import type { HostPrompt } from "@fairlead/core/host";
import { seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readArguments } from "../../../src/arguments/arguments.ts";
import { wordsOf } from "../../../src/tui/slash/command.ts";
import { writeCall } from "../../../src/tui/slash/form.ts";
import { promptCommands, valueQuestion } from "../../../src/tui/slash/prompt-commands.ts";
import { typedHere } from "../../../src/tui/slash/typed-here.ts";
import { machine } from "../../support/machine.ts";

test.each([
  ["fairlead mcp auth github", "/mcp auth github"],
  ["npx --no -- fairlead tools demo", "/tools demo"],
  ["look: fairlead trust add, then fairlead mcp list", "look: /trust add, then /mcp list"],
  ["fairlead call demo.greet", "fairlead call demo.greet"],
  ["/opt/fairlead mcp list", "/opt/fairlead mcp list"],
  ["npx --no -- fairlead conversations", "/resume"],
  ["fairlead resources, fairlead prompts, fairlead policy", "/resources, /prompts, /policy"],
  ["fairlead history; fairlead conversations", "/history; /resume"],
])("%j is %j here", (text, here) => {
  expect(typedHere(text)).toBe(here);
});

test.each([
  [{}, "s.t"],
  [{ name: "Ada", to: 3 }, "s.t name=Ada to:=3"],
  [{ text: "two words" }, `s.t 'text:="two words"'`],
  [{ text: "it's" }, `s.t 'text:="it\\'s"'`],
  [{ path: "@file" }, `s.t 'path:="@file"'`],
])("a call with %j is written %s", (args, line) => {
  expect(writeCall({ server: "s", tool: "t" }, args)).toBe(line);
});

test("whatever a call is written with is what is read from it", async () => {
  await using here = await machine();
  const names = fc
    .string({ minLength: 1 })
    .filter((name) => !/[=\n]|:$/.test(name) && name.trim() === name && name !== "-");
  const property = fc.asyncProperty(fc.dictionary(names, fc.jsonValue(), { maxKeys: 5 }), async (args) => {
    const [target, ...words] = wordsOf(writeCall({ server: "s", tool: "t" }, args));
    const streams = { io: { cwd: here.path }, out: {} } as Parameters<typeof readArguments>[2];
    expect([target, await readArguments({ words, json: undefined }, {}, streams)]).toEqual(["s.t", normal(args)]);
  });
  await fc.assert(property, { seed: seed(), numRuns: 200 });
});

/** As JSON has it: no negative zero. */
function normal(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe("prompts as commands", () => {
  const prompt = (server: string, name: string, registered = name): HostPrompt => ({
    server,
    name: registered,
    serverPromptName: name,
    arguments: [
      { name: "knot", required: true, description: "which" },
      { name: "audience", required: false },
    ],
  });

  test("each has its own name, unless that is a command of ours or an earlier prompt's", () => {
    const all = [prompt("a", "teach"), prompt("a", "help"), prompt("a", "both"), prompt("b", "both", "b__both")];
    expect(promptCommands(all, new Set(["help"])).map(({ name }) => name)).toEqual([
      "teach",
      "a.help",
      // The first server keeps the bare name, as everywhere.
      "both",
      "b.both",
    ]);
  });

  test("its usage says what has to be given, and what may be", () => {
    const [command] = promptCommands([prompt("a", "teach")], new Set());
    expect(command?.usage).toBe("--knot=… [--audience=…]");
  });

  test.each([
    ["knot=bo", [], { name: "knot", value: "bo" }],
    ["audience=", ["knot=bowline"], { name: "audience", value: "", given: { knot: "bowline" } }],
    ["knot", [], undefined],
    ["other=x", [], undefined],
  ])("its server is asked about the value in %s", (typed, before, request) => {
    const of = { kind: "prompt", server: "a", prompt: "teach" };
    expect(valueQuestion(prompt("a", "teach"), before, typed)).toEqual(request && { of, ...request });
  });
});
