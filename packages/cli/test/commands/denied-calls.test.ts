import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
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
  ["call --yes", ["call", "spy.echo", "text=hi", "--yes"]],
  ["read", ["read", "--server", "spy", "notes://today", "--yes"]],
  ["prompt", ["prompt", "spy:ask", "--yes"]],
  ["prompt --server", ["prompt", "--server", "spy", "ask"]],
])("%s: a request that a rule denies by name starts no server", async (_door, argv) => {
  await using here = await village();
  const { code, stderr } = await here.run(...argv);
  expect({ code, stderr }).toMatchObject({ code: 6, stderr: expect.stringMatching(/denied: a rule in .*mine\.toml/) });
  expect(await readdir(here.path)).not.toContain("spy-started");
});

test("a denied call is in the history", async () => {
  await using here = await village();
  await here.run("call", "spy.echo", "text=hi");
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
