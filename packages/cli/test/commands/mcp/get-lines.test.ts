import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../support/machine.ts";

const file = "/home/.gemini/settings.json";

const files = {
  [userFile]: {
    mcpServers: {
      every: {
        command: "npx",
        args: ["-y", "pkg", "--token", "sk-canary-4711"],
        env: { A: "$A", B: "literal" },
        cwd: "sub",
        timeout: 1000,
        trust: true,
        description: "a description",
        includeTools: ["a"],
        excludeTools: ["b"],
      },
      web: { url: "https://example.com/mcp", headers: { A: "b" } },
      sse: { url: "https://example.com/sse", type: "sse" },
      odd: 7,
      both: { command: "one" },
    },
  },
  [projectFile]: { mcpServers: { both: { command: "two" } } },
};

const unset = 'server "every": "env.A" uses the variable A, which is not set';
const next = "Set A in the environment or in ~/.gemini/.env, or write ${A:-default}.";

const texts: Readonly<Record<string, string>> = {
  every: `every
  status        cannot start: variable not set
  why           ${unset} (${file}:12)
  next          ${next}
  written in    ${file}:3:5 (user)
  transport     stdio
  command       npx
  arguments     1: -y
                2: pkg
                3: --token
                4: (hidden)
  environment   A=$A
                B=(hidden)
  cwd           sub
  variables     A is not set
  sandbox       not sandboxed
  timeout       1000 ms
  includeTools  a
  excludeTools  b
  roots         not sent (fairlead.servers.every.roots is false)
  trust         true, but it has no effect: server "every": "env.A" uses the variable A, which is not set (/home/.gemini/settings.json:12)
  description   a description
  fingerprint   HASH
  note          downloads and runs code: pkg from npm
                unpinned: a later start may run another version; to write the exact one: fairlead mcp pin every
  ${file}:12:14: error: ${unset}
  next: ${next}
`,
  web: `web
  status       ready to start
  signed in    not signed in; the server has not asked for a sign-in
  written in   ${file}:26:5 (user)
  transport    http, then sse
  url          https://example.com/mcp
  headers      A: (hidden)
  timeout      600000 ms
  roots        not sent (fairlead.servers.web.roots is false)
  fingerprint  HASH
`,
  sse: `sse
  status       ready to start
  signed in    not signed in; the server has not asked for a sign-in
  written in   ${file}:32:5 (user)
  transport    sse
  url          https://example.com/sse
  timeout      600000 ms
  roots        not sent (fairlead.servers.sse.roots is false)
  fingerprint  HASH
`,
  odd: `odd
  status      cannot start: invalid settings
  why         server "odd": "odd" must be an object, not a number (${file}:36)
  written in  ${file}:36:5 (user)
  transport   unknown
  ${file}:36:12: error: server "odd": "odd" must be an object, not a number
`,
  "both --trust-workspace": `both
  status       ready to start
  written in   /project/.gemini/settings.json:3:5 (workspace)
  replaces     ${file}:37:5 (user)
  transport    stdio
  command      two
  sandbox      not sandboxed
  timeout      600000 ms
  roots        not sent (fairlead.servers.both.roots is false)
  fingerprint  HASH
`,
};

test("the user sees every field of an entry, in order, and no literal value", async () => {
  await using here = await machine(files);
  for (const [words, text] of Object.entries(texts)) {
    const { code, stdout } = await here.run("mcp", "get", ...words.split(" "));
    const shown = stdout.replaceAll(here.path, "").replaceAll(/\b[0-9a-f]{64}\b/g, "HASH");
    expect([code, shown], words).toEqual([0, text]);
  }
});

test("the JSON document has the same fields", async () => {
  await using here = await machine(files);
  const documentOf = async (...words: readonly string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await here.run("mcp", "get", "--json", ...words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout.replaceAll(here.path, ""));
  };
  const origin = { scope: "user", file };
  const usual = { schemaVersion: 1, status: "disconnected", scope: "user", shadows: [] };
  const defined = { secrets: [], authentication: { provider: "oauth" }, roots: [], fingerprint: expect.any(String) };
  expect(await documentOf("every")).toEqual({
    ...usual,
    ...defined,
    name: "every",
    reason: "variable_unset",
    error: { code: "variable_unset", message: `${unset} (${file}:12)`, next },
    transport: "stdio",
    origin: { ...origin, line: 3, column: 5 },
    command: "npx",
    args: ["-y", "pkg", "--token", "(hidden)"],
    env: { A: "$A", B: "(hidden)" },
    cwd: "sub",
    variables: [{ name: "A", from: "unset" }],
    sandbox: "off",
    timeout: 1000,
    trust: true,
    trustEffect: {
      counts: false,
      reason: 'server "every": "env.A" uses the variable A, which is not set (/home/.gemini/settings.json:12)',
      next: "Set A in the environment or in ~/.gemini/.env, or write ${A:-default}.",
    },
    description: "a description",
    includeTools: ["a"],
    excludeTools: ["b"],
    notes: [
      "downloads and runs code: pkg from npm",
      "unpinned: a later start may run another version; to write the exact one: fairlead mcp pin every",
    ],
    problems: [
      {
        severity: "error",
        code: "variable_unset",
        message: unset,
        origin: { ...origin, line: 12, column: 14 },
        serverName: "every",
        next,
      },
    ],
  });
  expect(await documentOf("web")).toEqual({
    ...usual,
    ...defined,
    name: "web",
    reason: "lazy",
    transport: "http",
    origin: { ...origin, line: 26, column: 5 },
    url: "https://example.com/mcp",
    headers: { A: "(hidden)" },
    variables: [],
    timeout: 600_000,
    trust: false,
    excludeTools: [],
    notes: [],
    problems: [],
    signIn: { state: "unknown" },
  });
  const invalid = { code: "settings_invalid", message: 'server "odd": "odd" must be an object, not a number' };
  expect(await documentOf("odd")).toEqual({
    ...usual,
    name: "odd",
    reason: "settings_invalid",
    error: { ...invalid, message: `${invalid.message} (${file}:36)` },
    transport: "unknown",
    origin: { ...origin, line: 36, column: 5 },
    problems: [{ severity: "error", ...invalid, origin: { ...origin, line: 36, column: 12 }, serverName: "odd" }],
  });
});
