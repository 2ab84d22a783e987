import { hiddenEntryDrift } from "@fairlead/core/policy/lock/lock-drift";
import { describe, expect, test } from "vitest";
import { lockedEntry } from "../../src/lock/workspace.ts";

describe("of an entry the lock file has", () => {
  test.each([
    ["LOG_LEVEL", "debug"],
    ["PORT", "8080"],
    ["DATA_DIR", "/srv/data2024/files"],
    ["BASE_URL", "https://api.example.com/v2"],
    ["HOST", "db.example.com:5432"],
    ["BASE_URL", "https://api.example.com/${secret:ACCOUNT_1234567890}"],
    ["API_TOKEN", "$API_TOKEN"],
    ["PASSWORD", "${secret:DB_PASSWORD}"],
    ["NODE_OPTIONS", "--require ./hook.cjs"],
    ["ANY", "x".repeat(200)],
    ["ANY", "~/data2024"],
    ["ANY", "./data2024"],
    ["ANY", "https://example.com/${N2Q4ZjA5YjEtM2U1Ny00}/abc1"],
  ])("the variable %s=%s as it is", (name, value) => {
    expect(lockedEntry({ env: { [name]: value } })).toEqual({ env: { [name]: value } });
  });

  test.each([
    ["API_TOKEN", "anything"],
    ["ANY", "sk-live-51Habcdefghijklmn"],
    ["ANY", "s3cret"],
    ["ANY", "my-secret-word"],
    ["ANY", "x".repeat(201)],
    ["ANY", "1a"],
    ["ANY", "data2024/files"],
    ["ANY", "Bearer abcdef"],
  ])("not the variable %s=%s", (name, value) => {
    expect(lockedEntry({ env: { [name]: value } })).toEqual({ env: { [name]: "(hidden)" } });
  });

  test("of an address all but what may be a key", () => {
    const url = "https://ada:hunter@mcp.example.com/api/s/N2Q4ZjA5YjEtM2U1Ny00/mcp?token=abc&page=2";
    const locked = "https://ada:(hidden)@mcp.example.com/api/s/(hidden)/mcp?token=(hidden)&page=2";
    expect(lockedEntry({ url, env: { BASE: url } })).toEqual({ url: locked, env: { BASE: locked } });
    const image = `ghcr.io/x/y@sha256:${"0a".repeat(32)}`;
    expect(lockedEntry({ command: "docker", args: ["run", image] })).toEqual({
      command: "docker",
      args: ["run", image],
    });
  });

  test("no header that is written out, and no description", () => {
    const headers = { Authorization: "Bearer ${secret:T}", "X-Region": "eu" };
    expect(lockedEntry({ headers, description: "words", trust: true })).toEqual({
      headers: { Authorization: "Bearer ${secret:T}", "X-Region": "(hidden)" },
      trust: true,
    });
  });

  test("names that mean something to JavaScript as names", () => {
    const env = JSON.parse('{"__proto__":"1"}') as object;
    expect(Object.entries(lockedEntry({ env })["env"] as object)).toEqual([["__proto__", "1"]]);
  });
});

test.each([
  {
    command: "npx",
    args: ["-y", "x@1", "--token", "s3cret", "--key=abc123", 7],
    env: { API_TOKEN: "x", PORT: 80, N: true },
  },
  {
    url: "https://u:p4ss@api.example.com/v1/abcdef0123456789abcdef?key=k3y",
    headers: { Authorization: "Bearer t0ken" },
  },
  {
    httpUrl: "https://x.example",
    oauth: { clientSecret: "a", scopes: ["r", "w"], enabled: true },
    trust: true,
    odd: { a: 1 },
  },
  {
    command: "a",
    args: [],
    env: { T: "${T:-s3cret}", NODE_OPTIONS: "--token=s3cret -r x" },
    description: "words",
    timeout: 5,
  },
])("an entry is as locked, whatever is hidden of it: %j", (entry) => {
  expect(hiddenEntryDrift(lockedEntry(entry), entry)).toEqual([]);
  expect(hiddenEntryDrift(lockedEntry(entry), { ...entry, cwd: "/else" }).map(({ member }) => member)).toEqual([
    "entry.cwd",
  ]);
});
