import { expect, test } from "vitest";
import { MCPPermissionManager } from "../../src/gemini/permission-manager.ts";

function tool(serverName: string, serverToolName: string, trust = false) {
  return { serverName, serverToolName, trust };
}

const manager = new MCPPermissionManager();
manager.setServerPermissions("files", ["read", "list", "wipe"]);
manager.setServerPermissions("closed", []);
manager.setServerPermissions("__proto__", ["read"]);
manager.denyToolGlobally("wipe");

test.each([
  ["files", "read", false, true],
  ["files", "write", false, false],
  ["files", "write", true, false],
  ["files", "wipe", true, false],
  ["closed", "read", true, false],
  ["__proto__", "read", false, true],
  ["__proto__", "toString", false, false],
  ["other", "read", false, false],
  ["other", "read", true, true],
  ["other", "wipe", true, false],
])("%s.%s with trust %s: %s", (server, name, trusted, allowed) => {
  const asked = tool(server, name, trusted);
  expect(manager.isToolAllowed(asked)).toBe(allowed);
  expect(manager.createSecureTool(asked)).toBe(allowed ? asked : null);
});

test("the last permissions of a server count", () => {
  const changing = new MCPPermissionManager();
  changing.setServerPermissions("files", ["read"]);
  changing.setServerPermissions("files", ["list"]);
  expect(["read", "list"].map((name) => changing.isToolAllowed(tool("files", name)))).toEqual([false, true]);
});

test("a tool without `trust` of a server without permissions is not allowed", () => {
  const empty = new MCPPermissionManager();
  expect(empty.isToolAllowed({ serverName: "files", serverToolName: "read" })).toBe(false);
});
