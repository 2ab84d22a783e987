/** The skill that teaches an agent with a shell, and the entry for MCP registries. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { runSteps, stepsIn } from "./support/page.ts";

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), "utf8");
const versionOf = (path: string): unknown => (JSON.parse(read(path)) as { readonly version: unknown }).version;

test("an agent finds the skill by its name and its description", () => {
  const [, head = ""] = /^---\n([\s\S]*?)\n---\n/.exec(read("skills/fairlead/SKILL.md")) ?? [];
  const { name, description, ...others } = parse(head) as Readonly<Record<string, string>>;
  // The name is the name of the folder. The lengths are limits of the format.
  expect(name).toBe("fairlead");
  expect(description).toMatch(/^Find and call tools .* Use when /);
  expect(description?.length).toBeLessThan(1024);
  expect(others).toEqual({});
});

test("every command of the skill works as it stands, and prints what is shown", async () => {
  const steps = stepsIn(read("skills/fairlead/SKILL.md"));
  expect(steps.map(({ line }) => line.split(" ").slice(0, 2).join(" "))).toEqual([
    "fairlead tools",
    "fairlead call",
    "fairlead call",
    "fairlead call",
  ]);
  await runSteps(steps);
});

test("the registry entry is complete, and names no package before one is published", () => {
  const entry = JSON.parse(read("server.json")) as Readonly<Record<string, string>>;
  const { name, description, title, version, repository, ...others } = entry;
  expect(name).toMatch(/^[a-zA-Z0-9.-]+[/][a-zA-Z0-9._-]+$/);
  // The registry refuses longer texts.
  expect(title?.length).toBeLessThanOrEqual(100);
  expect(description?.length).toBeLessThanOrEqual(100);
  expect(version).toBe(versionOf("packages/cli/package.json"));
  expect(repository).toEqual({ url: "https://github.com/fairlead/fairlead", source: "github" });
  expect(others).toEqual({
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    websiteUrl: "https://github.com/fairlead/fairlead#readme",
  });
});
