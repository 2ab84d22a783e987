import { describe, test } from "vitest";
import { type Case, expectConversion } from "../../support/conversions.ts";

const url = "https://example.com/mcp";
const remarks = ["converted command", "hint url"];

const cases: readonly Case[] = [
  {
    title: "the plain form",
    program: "claude-desktop",
    value: { command: "npx", args: ["-y", "mcp-remote", url] },
    entry: { url },
    remarks,
  },
  {
    title: "a version, a port and switches that mean nothing here",
    program: "cursor",
    value: { command: "npx", args: ["mcp-remote@0.1.16", url, "9696", "--debug", "--host", "127.0.0.1"] },
    entry: { url },
    remarks,
  },
  {
    title: "a transport",
    program: "claude-desktop",
    value: { command: "bunx", args: ["mcp-remote", url, "--transport", "sse-only"] },
    entry: { url, type: "sse" },
    remarks,
  },
  {
    title: "a transport with a fallback",
    program: "claude-desktop",
    value: { command: "/usr/bin/npx", args: ["-y", "mcp-remote", url, "--transport", "http-first"] },
    entry: { url },
    remarks,
  },
  {
    title: "headers, with the variables that mcp-remote fills in",
    program: "claude-desktop",
    value: {
      command: "npx",
      args: [
        "mcp-remote",
        url,
        "--header",
        "Authorization:${AUTH}",
        "--header",
        "X-Id: ${ID} $5",
        "--ignore-tool",
        "rm",
      ],
      env: { AUTH: "Bearer x$y", UNUSED: "z" },
    },
    entry: { url, headers: { Authorization: "Bearer x$$y", "X-Id": "${ID} $$5" }, excludeTools: ["rm"] },
    remarks: [...remarks, "dropped env.UNUSED"],
  },
  {
    title: "a reference of the program itself",
    program: "cursor",
    value: { command: "npx", args: ["mcp-remote", url, "--header", "Authorization: Bearer ${env:TOKEN}"] },
    entry: { url, headers: { Authorization: "Bearer ${TOKEN}" } },
    remarks: ["converted headers.Authorization", ...remarks],
  },
  {
    title: "the program by its own name",
    program: "windsurf",
    value: { command: "mcp-remote", args: [url], disabled: true },
    entry: { url },
    enabled: false,
    remarks: [...remarks, "converted enabled"],
  },
];

const unchanged: readonly Case[] = [
  {
    title: "an option without a counterpart",
    program: "claude-desktop",
    value: { command: "npx", args: ["mcp-remote", url, "--static-oauth-client-info", "{}"] },
    entry: { command: "npx", args: ["mcp-remote", url, "--static-oauth-client-info", "{}"] },
    remarks: ["hint args"],
  },
  {
    title: "an unknown transport",
    program: "claude-desktop",
    value: { command: "npx", args: ["mcp-remote", url, "--transport", "carrier-pigeon"] },
    entry: { command: "npx", args: ["mcp-remote", url, "--transport", "carrier-pigeon"] },
    remarks: ["hint args"],
  },
  {
    title: "another package that has the name in its arguments",
    program: "claude-desktop",
    value: { command: "npx", args: ["-y", "other", "mcp-remote", url] },
    entry: { command: "npx", args: ["-y", "other", "mcp-remote", url] },
  },
  {
    title: "another program",
    program: "claude-desktop",
    value: { command: "node", args: ["mcp-remote", url] },
    entry: { command: "node", args: ["mcp-remote", url] },
  },
];

describe("mcp-remote becomes the URL that it connects to", () => {
  test.each(cases)("$title", expectConversion);
});

describe("stays a command", () => {
  test.each(unchanged)("$title", expectConversion);
});
