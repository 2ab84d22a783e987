import { expect, test } from "vitest";
import { machine } from "../support/machine.ts";

test("a mistake in the command line is named before anything runs, with the next step", async () => {
  await using here = await machine();
  const example = "\n  next: fairlead call demo.greet name=Ada";
  const object = "demo.greet: Invalid parameters: must be an object, not";
  const mistakes: readonly (readonly [words: string, message: string])[] = [
    ["", "the tool's name is missing\n  next: fairlead tools"],
    [
      "--stdio x",
      'the tool\'s name is missing\n  next: to list its tools, replace "call" by "tools" and leave out the tool',
    ],
    [
      "demo.greet --name Ada",
      `a tool's arguments are written as key=value; --name is for a URL or --stdio COMMAND${example}`,
    ],
    [
      "demo.greet --language=fr --loud --yes name=Ada",
      "unknown option '--language=fr'\n  next: fairlead call demo.greet language=fr loud=true --yes name=Ada",
    ],
    ["--server demo name=x", "--server and --tool must be given together"],
    ["--tool greet", "--server and --tool must be given together"],
    ["--stdio x --server a --tool b", "--server and --tool work only with servers in the settings"],
    ["--stdio x --tool b", "--server and --tool work only with servers in the settings"],
    ["greet", 'there is no tool "greet"; did you mean "demo.greet"?\n  next: fairlead tools'],
    ["zzz", '"zzz" is not of the form server.tool\n  next: fairlead tools'],
    ["no.tool", 'there is no server "no"\n  next: fairlead mcp list'],
    ["demo.gret", '"demo" has no tool "gret"; did you mean "greet"?\n  next: fairlead tools demo'],
    ["--server demo --tool gret", '"demo" has no tool "gret"; did you mean "greet"?\n  next: fairlead tools demo'],
    ["demo.greet --args [1]", `${object} a list${example}`],
    ["demo.greet --args null", `${object} null${example}`],
    ["demo.greet --args 7", `${object} a number${example}`],
    ['demo.greet --args "x"', `${object} a string${example}`],
    [
      "demo.greet name=1 --args {}",
      "arguments given in more than one way: use only one of key=value, tool(key: value), --args and - (stdin)",
    ],
  ];
  for (const [words, message] of mistakes)
    expect(await here.run("call", ...words.split(" ").filter((word) => word !== "")), words).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairlead: ${message}\n`,
    });
  expect(await here.run("call", "demo.fail", "reason=no")).toEqual({
    code: 7,
    stdout: "This tool failed: no\n",
    stderr: "fairlead: demo.fail reported an error\n",
  });
});
