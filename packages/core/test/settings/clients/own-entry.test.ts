import { expect, test } from "vitest";
import { isOwnEntry, isOwnServer } from "../../../src/settings/clients/client.ts";

test.each([
  [{ command: "fairlead", args: ["serve"] }, true],
  [{ command: "/opt/node", args: ["/x/bin/fairlead.cjs", "serve", "--client", "cursor"] }, true],
  [{ command: "C:\\npm\\fairlead.cmd", args: ["-C", "x", "serve"] }, true],
  [{ command: "fairlead", args: ["call", "a.b"] }, false],
  [{ command: "serve", args: ["fairlead"] }, false],
  [{ command: "fairlead-tools", args: ["serve"] }, false],
  [{ url: "http://127.0.0.1:1/mcp" }, false],
])("whether %j starts Fairlead's gateway: %s", (entry, isOwn) => {
  expect(isOwnEntry(entry)).toBe(isOwn);
});

test.each([
  ["fairlead", "http://127.0.0.1:7777/mcp", true],
  ["fairlead", "http://localhost:7777/mcp/files", true],
  ["fairlead", "http://[::1]:7777/mcp", true],
  ["fairlead", "http://127.0.0.1:7777/mcpx", false],
  ["fairlead", "https://example.com/mcp", false],
  ["other", "http://127.0.0.1:7777/mcp", false],
])("whether the entry %s with %s leads to Fairlead's gateway: %s", (name, url, isOwn) => {
  expect(isOwnServer(name, { url })).toBe(isOwn);
});
