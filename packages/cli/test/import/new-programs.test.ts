import { describe, test } from "vitest";
import { type Case, expectConversion } from "../support/conversions.ts";

const cases: readonly Case[] = [
  {
    title: "Antigravity's Google credentials and disabled tools are carried over",
    program: "antigravity",
    value: {
      serverUrl: "https://x.googleapis.com/mcp",
      headers: { A: "1" },
      authProviderType: "google_credentials",
      disabledTools: ["t"],
    },
    entry: {
      url: "https://x.googleapis.com/mcp",
      headers: { A: "1" },
      authProviderType: "google_credentials",
      excludeTools: ["t"],
    },
  },
  {
    title: "a server that Antigravity has disabled is imported as disabled",
    program: "antigravity",
    value: { command: "x", disabled: true },
    entry: { command: "x" },
    enabled: false,
    remarks: ["converted enabled"],
  },
  {
    title: "Kiro's automatic approvals are dropped with the reason",
    program: "kiro",
    value: { command: "x", env: { A: "${B}" }, autoApprove: ["a"], disabledTools: ["b"], timeout: 9000 },
    entry: { command: "x", env: { A: "${B}" }, timeout: 9000, excludeTools: ["b"] },
    remarks: ["dropped autoApprove"],
  },
  {
    title: "Cline's time limit is in seconds",
    program: "cline",
    value: { command: "x", timeout: 60, alwaysAllow: ["a"], env: { A: "${env:B}" } },
    entry: { command: "x", env: { A: "${B}" }, timeout: 60_000 },
    remarks: ["converted env.A", "converted timeout", "dropped alwaysAllow"],
  },
  {
    title: "goose's variables in the keychain become stored secrets",
    program: "goose",
    value: {
      type: "stdio",
      command: "x",
      env: { A: "1" },
      env_keys: ["A", "TOKEN", "not a name"],
      timeout: 300,
      available_tools: [],
      enabled: true,
      description: "d",
    },
    entry: { command: "x", env: { A: "1", TOKEN: "${secret:TOKEN}" }, timeout: 300_000, description: "d" },
    remarks: ["hint env_keys", "converted timeout"],
  },
  {
    title: "goose's remote extension keeps its headers and its tools",
    program: "goose",
    value: { type: "streamable_http", url: "https://x/mcp", headers: { A: "Bearer ${B}" }, available_tools: ["t"] },
    entry: { url: "https://x/mcp", type: "http", headers: { A: "Bearer ${B}" }, includeTools: ["t"] },
  },
  {
    title: "an extension that goose runs from a script of its own cannot be imported",
    program: "goose",
    value: { type: "inline_python", code: "print()" },
    entry: {},
    remarks: ["obstacle type"],
  },
  {
    title: "Grok's time limits are in seconds, and its variables are ours",
    program: "grok",
    value: {
      url: "https://x/mcp",
      headers: { Authorization: "Bearer ${T:-none}" },
      tool_timeout_sec: 2.5,
      startup_timeout_sec: 30,
      tool_timeouts: { a: 1 },
    },
    entry: { url: "https://x/mcp", headers: { Authorization: "Bearer ${T:-none}" }, timeout: 2500 },
    remarks: ["converted tool_timeout_sec", "dropped startup_timeout_sec", "dropped tool_timeouts"],
  },
  {
    title: "Kimi names the variable of a token",
    program: "kimi",
    value: { transport: "http", url: "https://x/mcp", bearerTokenEnvVar: "T", enabledTools: ["a"], toolTimeoutMs: 5 },
    entry: {
      url: "https://x/mcp",
      type: "http",
      headers: { Authorization: "Bearer ${T}" },
      timeout: 5,
      includeTools: ["a"],
    },
    remarks: ["converted bearerTokenEnvVar"],
  },
  {
    title: "mcporter's token, and the tools that it blocks",
    program: "mcporter",
    value: { url: "https://x/mcp", bearerToken: "${T}", blockedTools: ["a"], lifecycle: "keep-alive" },
    entry: { url: "https://x/mcp", headers: { Authorization: "Bearer ${T}" }, excludeTools: ["a"] },
    remarks: ["dropped lifecycle"],
  },
  {
    title: "a value that Pi gets from a command is refused",
    program: "pi",
    value: { command: "x", env: { A: "!pass show a", B: "!!b" }, requestTimeoutMs: 7 },
    entry: { command: "x", env: { A: "!pass show a", B: "!!b" }, timeout: 7 },
    remarks: ["obstacle env.A", "obstacle env.B"],
  },
];

describe("an entry of a program that people use beside the first nine", () => {
  test.each(cases)("$title", (one) => expectConversion(one));
});
