/** Each limit on files and lists: one less and exactly as much is taken, one more is not. */

import { readFile } from "node:fs/promises";
import { notePromise, temporaryFolder } from "@fairlead/test-servers";
import { afterAll, describe, expect, test } from "vitest";
import { parseJsonc } from "../src/files/json/jsonc.ts";
import { readText } from "../src/files/read-text.ts";
import { limits as values } from "../src/limits.ts";
import { readSource } from "../src/settings/read/source.ts";
import { read } from "./support/read-policy.ts";

/** Whether a settings file with this text can be used. */
async function isSettings(text: string): Promise<boolean> {
  await using folder = await temporaryFolder();
  return (await readSource("user", await folder.write("settings.json", text))).state === "read";
}

const isPolicy = async (text: string): Promise<boolean> => (await read(text)).problems.length === 0;
const rule = '[[rule]]\nmcpName="a"\ndecision="deny"\npriority=1\n';

interface Limit {
  readonly name: keyof typeof values;
  /** Whether so much is taken. */
  readonly isTaken: (amount: number) => Promise<boolean>;
}

async function isReadable(bytes: number, limit: number): Promise<boolean> {
  await using folder = await temporaryFolder();
  return (await readText(await folder.write("file", "x".repeat(bytes)), limit)).kind === "text";
}

const limits: readonly Limit[] = [
  { name: "settingsBytes", isTaken: (bytes) => isSettings(`{}${" ".repeat(bytes - 2)}`) },
  {
    name: "settingsDepth",
    isTaken: async (depth) => parseJsonc(`${"[".repeat(depth)}${"]".repeat(depth)}`).errors.length === 0,
  },
  // The object, its name and the list count as well.
  { name: "settingsValues", isTaken: (count) => isSettings(`{"a":[${"1,".repeat(count - 5)}1]}`) },
  { name: "policyBytes", isTaken: (bytes) => isPolicy(`#${"x".repeat(bytes - 1)}`) },
  { name: "policyRules", isTaken: (count) => isPolicy(rule.repeat(count)) },
  {
    name: "policyText",
    isTaken: (length) => isPolicy(`${rule}toolName="${"x".repeat(length)}"\n`),
  },
  { name: "keyBytes", isTaken: (bytes) => isReadable(bytes, values.keyBytes) },
  { name: "clientFileBytes", isTaken: (bytes) => isReadable(bytes, values.clientFileBytes) },
];

test("the page of limits has each of them with its value", async () => {
  const page = await readFile(new URL("../../../docs/limits.md", import.meta.url), "utf8");
  for (const { name } of limits)
    expect(page).toContain(
      `| \`limits.${name}\` | ${String(values[name]).replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, " ")} |`,
    );
});

let held = 0;
describe.each(limits)("limits.$name", ({ name, isTaken }) => {
  test.each([
    ["one less than the limit", -1, true],
    ["as much as the limit", 0, true],
    ["one more than the limit", 1, false],
  ] as const)("%s", async (_, more, expected) => {
    expect(await isTaken(values[name] + more)).toBe(expected);
    held += 1;
  });
});

afterAll(() =>
  notePromise({
    group: "limits",
    promise: "limits on settings, policy and other files hold at N − 1, N and N + 1",
    tries: 3 * limits.length,
    failures: 3 * limits.length - held,
    load: `${limits.length} limits of the host`,
  }),
);
