import { expect, test } from "vitest";
import { isOwnGateway, parentVariable, refuseNested } from "../../src/trust/own-entry.ts";
import { machine } from "../support/machine.ts";

test.each([
  ["fairlead serve", true],
  ["/usr/local/bin/fairlead serve --client claude-code", true],
  ["fairlead.cmd serve", true],
  ["fairlead --quiet serve", true],
  ["/usr/bin/node /opt/fairlead/bin/fairlead.cjs serve --http", true],
  ["npx -y fairlead serve", true],
  ["npx -y fairlead@0.2.0 serve", true],
  ["cmd /c npx fairlead serve", true],
  ["npx --no -- fairlead serve", true],
  ["fairlead serve-recording a.jsonl", false],
  ["fairlead mcp list", false],
  ["fairlead mcp serve", false],
  ["fairlead serve mcp", true],
  ["serve", false],
  ["npx -y other-server serve", false],
  ["node fairlead-notes.js serve", false],
])("%s: %s", (line, expected) => {
  const [command = "", ...args] = line.split(" ");
  expect(isOwnGateway({ kind: "stdio", command, args, env: new Map() })).toBe(expected);
});

test("an address is no gateway of ours, and neither is an entry without a program", () => {
  expect(isOwnGateway({ kind: "http", url: "https://fairlead/serve", headers: new Map() })).toBe(false);
  expect(isOwnGateway(undefined)).toBe(false);
});

test("such an entry is not started, and says why", async () => {
  await using here = await machine({
    "home/.gemini/settings.json": { mcpServers: { loop: { command: "npx", args: ["fairlead", "serve"] } } },
  });
  const { servers } = await here.load();
  expect(servers.map(({ admission }) => admission)).toEqual([
    {
      status: "disconnected",
      reason: "settings_invalid",
      message: expect.stringContaining("it is Fairlead's own gateway (fairlead serve), which is for other programs"),
      next: "fairlead mcp disable loop",
    },
  ]);
});

test("the entry that connect writes for Gemini CLI, which reads the same file, is no server", async () => {
  const args = ["/usr/bin/fairlead", "serve", "--client", "gemini"];
  await using here = await machine({
    "home/.gemini/settings.json": { mcpServers: { fairlead: { command: "/usr/bin/node", args } } },
  });
  expect((await here.load()).servers).toEqual([]);
});

test("a gateway below a gateway is refused", () => {
  expect(() => refuseNested({})).not.toThrow();
  expect(() => refuseNested({ [parentVariable]: "12" })).toThrow("fairlead serve cannot start here");
});
