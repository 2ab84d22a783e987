import { fromForeignEntry, isOwnEntry, isOwnServer } from "@fairlead/core/settings/own-server";
import { expect, test } from "vitest";
import { isClientName } from "../../src/clients/client.ts";

test.each([
  [{ command: "fairlead", args: ["serve"] }, true],
  [{ command: "/opt/node", args: ["/x/bin/fairlead.cjs", "serve", "--client", "cursor"] }, true],
  [{ command: "C:\\npm\\fairlead.cmd", args: ["-C", "x", "serve"] }, true],
  [{ command: "fairlead", args: ["call", "a.b"] }, false],
  [{ command: "serve", args: ["fairlead"] }, false],
  [{ command: "fairlead-tools", args: ["serve"] }, false],
  [{ url: "http://127.0.0.1:1/mcp" }, false],
  [{ command: ["node", "fairlead", "serve"] }, true],
  [{ command: "fairlead", args: [] }, false],
  [{ command: "xfairlead", args: ["serve"] }, false],
  [{ command: "fairlead.js", args: ["serve"] }, false],
  [undefined, false],
])("whether %j starts Fairlead's gateway: %s", (entry, isOwn) => {
  expect(isOwnEntry(entry)).toBe(isOwn);
});

test.each([
  ["fairlead", "http://127.0.0.1:7777/mcp", true],
  ["fairlead", "http://localhost:7777/mcp/files", true],
  ["fairlead", "http://[::1]:7777/mcp", true],
  ["fairlead", "http://127.0.0.1:7777/mcpx", false],
  ["fairlead", "xhttp://127.0.0.1:7777/mcp", false],
  ["fairlead", "http://127.0.0.1/mcp", false],
  ["fairlead", "https://example.com/mcp", false],
  ["other", "http://127.0.0.1:7777/mcp", false],
])("whether the entry %s with %s leads to Fairlead's gateway: %s", (name, url, isOwn) => {
  expect(isOwnServer(name, { url })).toBe(isOwn);
});

test.each<[unknown, unknown]>([
  [
    { command: "x", args: ["a", 1, "b"], env: { A: "1", B: 2 } },
    { kind: "stdio", command: "x", args: ["a", "b"], env: { A: "1" } },
  ],
  [{ command: "x" }, { kind: "stdio", command: "x", args: [], env: {} }],
  [
    { command: "x", url: "http://h" },
    { kind: "stdio", command: "x", args: [], env: {} },
  ],
  [
    { command: ["x", "a"], args: ["b"], environment: { A: "1" } },
    { kind: "stdio", command: "x", args: ["a"], env: { A: "1" } },
  ],
  [
    { command: "x", env: { A: "1" }, environment: { B: "2" } },
    { kind: "stdio", command: "x", args: [], env: { A: "1" } },
  ],
  [
    { command: [], url: "http://h" },
    { kind: "http", url: "http://h", headers: {} },
  ],
  [
    { args: ["x"], url: "http://h" },
    { kind: "http", url: "http://h", headers: {} },
  ],
  [
    { url: "http://a", serverUrl: "http://b", httpUrl: "http://c" },
    { kind: "http", url: "http://a", headers: {} },
  ],
  [
    { serverUrl: "http://b", httpUrl: "http://c" },
    { kind: "http", url: "http://b", headers: {} },
  ],
  [
    { httpUrl: "http://c", headers: { A: "1" } },
    { kind: "http", url: "http://c", headers: { A: "1" } },
  ],
  [
    { url: "http://a", http_headers: { B: "2" } },
    { kind: "http", url: "http://a", headers: { B: "2" } },
  ],
  [{ url: 7 }, undefined],
  [{ args: ["x"] }, undefined],
  [{}, undefined],
  ["x", undefined],
])("the entry %j is read as %j", (value, entry) => {
  expect(fromForeignEntry(value)).toEqual(entry);
});

test("only the exact name of a supported client is accepted", () => {
  expect(["zed", "Zed", "", "toString", "__proto__"].map(isClientName)).toEqual([true, false, false, false, false]);
});
