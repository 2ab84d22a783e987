import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { library } from "../support/library.ts";
import { type Machine, machine, userFile } from "../support/machine.ts";

const denied = (kind: string, name: string): string =>
  `[[rule]]\nmcpName = "spy"\nkind = "${kind}"\n${name}decision = "deny"\npriority = 900\n`;
const rules = [denied("tool", 'toolName = "echo"\n'), denied("resource", ""), denied("prompt", "")].join("\n");

/** A server that leaves a file if it is started, and rules that deny everything of it. */
async function village(more = ""): Promise<Machine> {
  const here = await machine({ "home/.gemini/policies/mine.toml": rules + more });
  await here.write(userFile, { mcpServers: { spy: { command: "touch", args: [join(here.path, "spy-started")] } } });
  return here;
}

test.each([
  ["call", ["call", "spy.echo", "text=hi"]],
  ["call --server --tool", ["call", "--server", "spy", "--tool", "echo", "text=hi"]],
  ["call by a bare name", ["call", "echo", "text=hi"]],
  ["-p --model manual", ["-p", "spy.echo text=hi", "--model", "manual", "--fail-on-denied"]],
  ["-p --model manual by a bare name", ["-p", "echo text=hi", "--model", "manual", "--fail-on-denied"]],
  ["call --yes", ["call", "spy.echo", "text=hi", "--yes"]],
  ["read", ["read", "--server", "spy", "notes://today", "--yes"]],
  ["prompt", ["prompt", "spy:ask", "--yes"]],
  ["prompt --server", ["prompt", "--server", "spy", "ask"]],
  ["prompt by a bare name", ["prompt", "ask"]],
  ["read of a bare URI", ["read", "notes://today"]],
])("%s: a request that a rule denies by name starts no server", async (_door, argv) => {
  await using here = await village();
  const { code, stderr } = await here.run(...argv);
  expect({ code, stderr }).toMatchObject({ code: 6, stderr: expect.stringMatching(/denied: a rule in .*mine\.toml/) });
  expect(await readdir(here.path)).not.toContain("spy-started");
});

test.each([
  ["read", ["read", "--server", "spy", "notes://today"]],
  ["read of a bare URI", ["read", "notes://today"]],
  ["prompt", ["prompt", "spy:ask"]],
  ["prompt by a bare name", ["prompt", "ask"]],
])("%s: a request that a rule denies by name starts no server whose lists are cached", async (_door, argv) => {
  await using here = await library({
    spy: { resources: [{ uri: "notes://today", name: "notes" }], prompts: [{ name: "ask" }] },
  });
  expect(await here.run("prompts")).toMatchObject({ code: 0 });
  expect(await here.starts("spy")).toBe(1);
  await here.write("home/.gemini/policies/mine.toml", rules);
  expect(await here.run(...argv)).toMatchObject({ code: 6, stderr: expect.stringContaining("denied: a rule in ") });
  expect(await here.starts("spy")).toBe(1);
});

test.each([
  ["call", ["call", "echo", "text=hi"], "spy.echo"],
  ["prompt", ["prompt", "ask"], 'prompt ask of "spy"'],
  ["read", ["read", "notes://today"], 'resource notes://today of "spy"'],
])("a %s by a bare name that a rule denies at one of two servers starts only the other", async (_door, argv, name) => {
  await using here = await village();
  const other = join(here.path, "other-started");
  const mcpServers = {
    spy: { command: "touch", args: [join(here.path, "spy-started")] },
    other: { command: "touch", args: [other] },
  };
  await here.write(userFile, { mcpServers });
  const { stderr } = await here.run(...argv);
  expect(stderr).toContain(`${name} denied: a rule in `);
  const files = await readdir(here.path);
  expect([files.includes("spy-started"), files.includes("other-started")]).toEqual([false, true]);
});

test.each([
  ["call", ["call", "spy.echo", "text=hi"]],
  ["-p --model manual", ["-p", "spy.echo text=hi", "--model", "manual"]],
])("a denied call of %s is in the history", async (_door, argv) => {
  await using here = await village();
  await here.run(...argv);
  const { stdout } = await here.run("history", "--json");
  expect(JSON.parse(stdout).entries).toMatchObject([{ server: "spy", tool: "echo", outcome: "denied" }]);
});

test("a deny that another rule could overrule once the tool's annotations are read starts the server", async () => {
  const allow =
    '[[rule]]\nmcpName = "spy"\ntoolName = "echo"\ntoolAnnotations = { readOnlyHint = true }\ndecision = "allow"\npriority = 950\n';
  await using here = await village(allow);
  expect(await here.run("call", "spy.echo", "text=hi")).toMatchObject({ code: 4 });
  expect(await readdir(here.path)).toContain("spy-started");
});
