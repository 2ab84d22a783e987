import { expect, test } from "vitest";
import { sharedBy } from "../../src/server/sharing.ts";
import type { ServerExtras, Transport } from "../../src/settings/define/definition.ts";

const extras: ServerExtras = {
  start: "background",
  trustAnnotations: false,
  sampling: false,
  roots: false,
  alwaysLoad: false,
  share: "auto",
};

const stdio = (command: string, ...args: readonly string[]): Transport => ({
  kind: "stdio",
  command,
  args,
  env: new Map(),
});
const http: Transport = { kind: "http", url: "https://example.com/mcp", headers: new Map() };
const legacy = { peer: { era: "legacy" }, asksBack: false } as const;
const unknown = { peer: undefined, asksBack: false };
const plain = stdio("node", "server.js");

test.each([
  ["a program", plain, legacy, "all"],
  ["a program that was never connected", plain, unknown, "all"],
  ["a program that asks back", plain, { ...legacy, asksBack: true }, "client"],
  ["a modern program that asks back", plain, { peer: { era: "modern" }, asksBack: true }, "all"],
  ["a legacy server over HTTP", http, legacy, "client"],
  ["a server over HTTP that was never connected", http, unknown, "client"],
  ["a modern server over HTTP", http, { peer: { era: "modern" }, asksBack: false }, "all"],
] as const)("%s", (_, transport, facts, expected) => {
  expect(sharedBy({ extras, transport }, facts)).toBe(expected);
});

test.each([
  ["npx -y @playwright/mcp@latest", "client"],
  ["npx -y @modelcontextprotocol/server-puppeteer", "client"],
  ["npx chrome-devtools-mcp@latest", "client"],
  ["cmd /c npx -y @playwright/mcp", "client"],
  ["uvx mcp-shell-server", "client"],
  ["node /opt/tools/browser-mcp.js", "client"],
  ["/usr/local/bin/iterm-mcp", "client"],
  ["docker run -i --rm mcp/playwright", "client"],
  ["npx -y @modelcontextprotocol/server-filesystem /home/ada/Desktop", "all"],
  ["npx -y @modelcontextprotocol/server-memory", "all"],
  ["docker run -i --rm -v /home/ada/shell:/data mcp/memory", "all"],
  ["uvx mcp-server-git --repository ~/computer", "all"],
  ["npx replicate-mcp", "all"],
])("%s: %s", (line, expected) => {
  const [command = "", ...args] = line.split(" ");
  expect(sharedBy({ extras, transport: stdio(command, ...args) }, legacy)).toBe(expected);
});

test("a server that gets the workspace root is not shared, and the setting decides before everything else", () => {
  expect(sharedBy({ extras: { ...extras, roots: true }, transport: plain }, legacy)).toBe("client");
  const browser = stdio("npx", "@playwright/mcp");
  expect(sharedBy({ extras: { ...extras, share: "all" }, transport: browser }, legacy)).toBe("all");
  expect(sharedBy({ extras: { ...extras, share: "client" }, transport: plain }, legacy)).toBe("client");
});
