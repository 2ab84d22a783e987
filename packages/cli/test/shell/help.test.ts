import { expect, test } from "vitest";
import { appOptions } from "../../src/shell/app-options.ts";
import { globalOptions, groupHelp, rootHelp } from "../../src/shell/help.ts";
import { commandGroups, groupOf, verbs } from "../../src/shell/verbs.ts";

const row = (left: string, right: string): string => `  ${left.padEnd(27)}  ${right}`;

test("the help lists every command once, with its summary, groups first", () => {
  const lines = rootHelp().split("\n");
  const names = verbs.map(({ words }) => words);
  const inGroups = [...commandGroups.keys()].flatMap((group) => names.filter((name) => groupOf(name) === group));
  const others = names.filter((name) => name !== "" && !inGroups.includes(name) && name.split(" ")[0] !== "help");
  expect(lines.slice(0, 6)).toEqual([
    "Fairlead connects a model to MCP servers and checks every call against your rules.",
    "",
    "usage: fairlead [options] <command>",
    "       fairlead                      open the app: chat with a model, or call tools yourself",
    '       fairlead "what is new?"       the same, with a first message',
    "",
  ]);
  const listed = lines.flatMap((line) => /^ {2}fairlead (\S+(?: [a-z-]+){0,2}) {2,}/.exec(line)?.[1] ?? []);
  expect(listed).toEqual([...inGroups, ...others]);
  for (const { words, summary } of verbs.filter(({ words: name }) => listed.includes(name)))
    expect(lines).toContain(row(`fairlead ${words}`, summary));
});

test("the help ends with the options and two commands to try", () => {
  const lines = rootHelp().split("\n");
  expect(lines.slice(lines.indexOf("options of the app:") - 1)).toEqual([
    "",
    "options of the app:",
    ...appOptions.map(([flags, help]) => row(flags, help)),
    "",
    "options, before or after the command:",
    ...globalOptions.map(([flags, help]) => row(flags, help)),
    row("-V, --version", "print the version"),
    row("-h, --help", "show help; works for every command"),
    "",
    "Try: fairlead call demo.greet name=you",
    "Errors and exit codes: fairlead help errors",
    "",
  ]);
});

test("the help of a group has only the group's commands", () => {
  const [[group, heading] = ["", ""]] = commandGroups;
  const own = verbs.filter(({ words }) => words.split(" ")[0] === group);
  expect(own.length).toBeGreaterThan(2);
  expect(groupHelp(group).split("\n")).toEqual([
    `${heading}:`,
    ...own.map(({ words, summary }) => row(`fairlead ${words}`, summary)),
    "",
    `More: fairlead ${group} <command> --help`,
    "",
  ]);
  expect(groupHelp("team")).toContain("fairlead team policy push");
  expect(groupHelp("team policy")).not.toContain("fairlead team status");
});
