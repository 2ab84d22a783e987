import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, userFile } from "../support/machine.ts";
import { openTerminal } from "../support/terminal.ts";

const tools = Array.from({ length: 41 }, (_, at) => ({
  name: `tool_${at}`,
  description: "What it does.",
  inputSchema: { type: "object" },
}));

test("many tools are listed by their names, unless a server, --long or --all asks for more", async () => {
  await using here = await machine();
  const file = await here.write("many.json", tools);
  await here.write(userFile, { mcpServers: { many: stdioServer("catalog", file) } });
  const { stdout, stderr } = await here.run("tools");
  expect(stdout).toBe(tools.map(({ name }) => `many.${name}\n`).join(""));
  expect(stderr).toContain("41 tools. Signatures: fairlead tools SERVER, or fairlead tools --long");
  for (const words of [["many"], ["--long"], ["--all"]])
    expect((await here.run("tools", ...words)).stdout).toMatch(/^ {2}tool_40\(\)\n {6}What it does\.$/m);
  await using terminal = openTerminal(here, "tools");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toMatch(/^many: 41 tools\n {2}tool_0, tool_1, /m);
  expect(terminal.screen()).not.toContain("What it does.");
});
