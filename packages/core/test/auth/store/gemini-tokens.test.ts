import { readFile } from "node:fs/promises";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { readGeminiTokens } from "../../../src/auth/store/gemini-tokens.ts";

const now = 1_000_000;
const record = {
  serverName: "docs",
  clientId: "gemini-client",
  tokenUrl: "https://sign-in.example/oauth/token",
  mcpServerUrl: "https://docs.example/mcp",
  updatedAt: 500_000,
  token: { accessToken: "a", refreshToken: "r", tokenType: "Bearer", scope: "read", expiresAt: now - 1 },
};

async function read(content: string | object) {
  await using folder = await temporaryFolder();
  const file = await folder.write("mcp-oauth-tokens.json", content);
  const before = await readFile(file, "utf8");
  const found = await readGeminiTokens(file, now);
  expect(await readFile(file, "utf8")).toBe(before);
  return [...found];
}

test("a sign-in of Gemini CLI becomes one of ours, bound to its address", async () => {
  expect(await read([record])).toEqual([
    [
      "https://docs.example/mcp",
      {
        serverName: "docs",
        serverUrl: "https://docs.example/mcp",
        resource: "https://docs.example/mcp",
        issuer: "https://sign-in.example",
        client: { clientId: "gemini-client" },
        endpoints: { token: "https://sign-in.example/oauth/token" },
        tokens: {
          accessToken: "a",
          tokenType: "Bearer",
          refreshToken: "r",
          scope: "read",
          obtainedAt: 500_000,
          expiresAt: now - 1,
        },
      },
    ],
  ]);
});

test.each([
  ["without an address", { ...record, mcpServerUrl: undefined }],
  ["with an invalid URL", { ...record, mcpServerUrl: "docs" }],
  ["for an address without encryption", { ...record, mcpServerUrl: "http://docs.example/mcp" }],
  ["without a place to renew it", { ...record, tokenUrl: undefined }],
  ["with a place that is none", { ...record, tokenUrl: "file:///etc/passwd" }],
  ["of no client", { ...record, clientId: "" }],
  ["that is over", { ...record, token: { accessToken: "a", expiresAt: now } }],
  ["without a token", { ...record, token: { refreshToken: "r" } }],
  ["of another shape", { ...record, token: "a" }],
  ["that is nothing", null],
])("one %s is left out, and keeps no other out", async (_what, odd) => {
  const other = { ...record, mcpServerUrl: "https://other.example/mcp" };
  expect((await read([odd, other])).map(([url]) => url)).toEqual(["https://other.example/mcp"]);
});

test("a token without a type is a Bearer token, and one with an invalid time was obtained at the time 0", async () => {
  const token = { accessToken: "a", tokenType: "DPoP" };
  const odd = { ...record, mcpServerUrl: "https://b.example/mcp", updatedAt: "now", token: { accessToken: "b" } };
  expect((await read([{ ...record, token }, odd])).map(([, { tokens }]) => tokens)).toEqual([
    { accessToken: "a", tokenType: "DPoP", obtainedAt: 500_000 },
    { accessToken: "b", tokenType: "Bearer", obtainedAt: 0 },
  ]);
});

test("of two records for one address the later one counts", async () => {
  const later = { ...record, token: { ...record.token, accessToken: "later" } };
  expect((await read([record, later])).map(([, { tokens }]) => tokens?.accessToken)).toEqual(["later"]);
});

test("a thousand records are read, and no more", async () => {
  const many = Array.from({ length: 1001 }, (_, at) => ({ ...record, mcpServerUrl: `https://docs.example/${at}` }));
  const urls = (await read(many)).map(([url]) => url);
  expect([urls.length, urls.at(-1)]).toEqual([1000, "https://docs.example/999"]);
});

test.each([["{}"], ["["], [""], ["null"]])("a file with %j has none", async (content) => {
  expect(await read(content)).toEqual([]);
});

test("a file that is not there has none", async () => {
  expect((await readGeminiTokens("/nowhere/tokens.json", now)).size).toBe(0);
});
