import { expect, test } from "vitest";
import { parseJsonc } from "../../../src/files/json/jsonc.ts";
import { limits } from "../../../src/limits.ts";
import { findVariables, type Mentions } from "../../../src/settings/define/mentions.ts";
import type { Lookup } from "../../../src/settings/read/variables.ts";

const lookup: Lookup = (name) => {
  if (name === "A") return { value: "a", from: "environment" };
  return name === "W" ? { value: "w", from: "workspace-env-file", isConfined: true } : undefined;
};

function find(entry: object, by: Lookup | undefined = lookup): Mentions {
  const { root } = parseJsonc(JSON.stringify(entry));
  if (root === undefined) throw new Error("the text holds no value");
  return findVariables(root, by);
}

const told = ({ mistakes }: Mentions): readonly string[] =>
  mistakes.map(({ text, ...mistake }) => `${text.where}: ${Object.values(mistake).join(" ")}`);

test.each<[object, readonly string[]]>([
  [{ command: "/${secret:S}/${secret:S}" }, ["command: secret-in-path S"]],
  [{ command: "/${secret:S}/${secret:T}" }, ["command: secret-in-path S", "command: secret-in-path T"]],
  [{ command: "x", cwd: "${secret:S}" }, ["cwd: secret-in-path S"]],
  [{ command: "x", args: ["${secret:S}"] }, []],
  [{ command: "x", args: ["$U$U", "$U"] }, ["args[0]: unset U", "args[1]: unset U"]],
  [{ command: "x", args: ["$U $V"] }, ["args[0]: unset U", "args[0]: unset V"]],
  [{ command: "$W/$W" }, ["command: confined W"]],
  [{ command: "$W/${secret:W}" }, ["command: confined W", "command: secret-in-path W"]],
  [{ command: "x", env: { E: "$W" } }, []],
  [{ url: "http://h", headers: { H: "$W" } }, []],
  [{ url: "http://$W" }, ["url: confined W"]],
  [
    { command: "${A", args: ["${A"] },
    ['command: malformed "${A" has no closing "}"', 'args[0]: malformed "${A" has no closing "}"'],
  ],
])("the mistakes in %j are each reported once: %j", (entry, mistakes) => {
  expect(told(find(entry))).toEqual(mistakes);
});

test("without a lookup no variable is unset, and the names are still known", () => {
  const { variables, values, secrets, mistakes } = findVariables(
    parseJsonc('{ "command": "x", "args": ["$A", "$U", "${secret:S}"] }').root ?? {
      type: "object",
      offset: 0,
      length: 0,
    },
    undefined,
  );
  expect({ variables, values, secrets, mistakes }).toEqual({
    variables: [
      { name: "A", from: "not-looked-up" },
      { name: "U", from: "not-looked-up" },
    ],
    values: new Map(),
    secrets: ["S"],
    mistakes: [],
  });
});

test("the longest text that the settings allow is searched, and a longer one is not", () => {
  const padded = (length: number) => ({ command: "x", args: [`$U ${"x".repeat(length - 3)}`] });
  expect(told(find(padded(limits.settingsText)))).toEqual(["args[0]: unset U"]);
  expect(told(find(padded(limits.settingsText + 1)))).toEqual([]);
});

test("a variable that is unset in one place counts as unset, with or without a default elsewhere", () => {
  expect(find({ command: "x", args: ["$U", "${U:-d}", "${A:-d}", "${V:-d}"] }).variables).toEqual([
    { name: "U", from: "unset" },
    { name: "A", from: "environment" },
    { name: "V", from: "default" },
  ]);
});
