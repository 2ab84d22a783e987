import { expect, test } from "vitest";
import { connection } from "./connection.ts";

const usual = { milliseconds: 30_000, setting: "fairlead.connectTimeout" };
const longer = { milliseconds: 120_000, setting: "fairlead.connectTimeout" };

test.each([
  [{ command: "node" }, usual],
  [{ command: "npm", args: ["start"] }, usual],
  [{ command: "uv" }, usual],
  [{ command: "npx", args: ["-y", "x"] }, longer],
  [{ command: "/usr/local/bin/uvx" }, longer],
  [{ command: "NPX.CMD" }, longer],
  [{ command: "docker", args: ["run", "x"] }, longer],
  [{ command: "npm", args: ["exec", "x"] }, longer],
  [{ command: "uv", args: ["run", "x"] }, longer],
  [{ command: "cmd", args: ["/c", "npx", "x"] }, longer],
  [
    { command: "npx", timeout: 60_000 },
    { milliseconds: 60_000, setting: "timeout" },
  ],
  [{ command: "node", timeout: 60_000 }, usual],
  [{ url: "https://x.example" }, usual],
])("on its first run, %o", async (entry, timeout) => {
  await using server = await connection(entry);
  await server.failure({ signal: AbortSignal.abort(), isFirstRun: true });
  expect(server.steps[0]).toMatchObject({ step: "definition", timeout });
});

test.each([
  [{ command: "npx", args: ["-y", "x"] }, usual],
  [{ command: "docker", args: ["run", "x"] }, usual],
  [
    { command: "npx", timeout: 20_000 },
    { milliseconds: 20_000, setting: "timeout" },
  ],
])("once it has run, %o", async (entry, timeout) => {
  await using server = await connection(entry);
  await server.failure({ signal: AbortSignal.abort() });
  expect(server.steps[0]).toMatchObject({ step: "definition", timeout });
});
