import type { Peer } from "@fairlead/core/events";
import { expect, test } from "vitest";
import { packageVersion } from "../../src/lock/workspace.ts";

const peer = (version: string): Peer => ({
  era: "legacy",
  protocolVersion: "2025-11-25",
  serverInfo: { name: "memory", version },
});
const run = (command: string, ...args: readonly string[]): Parameters<typeof packageVersion>[0] => ({
  transport: { kind: "stdio", command, args, env: new Map() },
});
const digest = `sha256:${"0a".repeat(32)}`;

test.each([
  [run("npx", "-y", "@x/memory@1.2.3"), "npm:@x/memory@1.2.3"],
  [run("uvx", "memory==1.2.3"), "pypi:memory==1.2.3"],
  [run("docker", "run", "-i", `x/memory@${digest}`), `image:x/memory@${digest}`],
  [run("npx", "-y", "@x/memory"), "reported:memory@0.6.3"],
  [run("node", "server.js"), "reported:memory@0.6.3"],
  [{ transport: { kind: "http", url: "https://x.example/mcp", headers: new Map() } } as const, "reported:memory@0.6.3"],
])("%j is %s", (definition, version) => {
  expect(packageVersion(definition, peer("0.6.3"))).toBe(version);
});

test("what a server says of itself is not kept at any length", () => {
  expect(packageVersion(run("node"), peer("1".repeat(10_000))).length).toBeLessThan(300);
});
