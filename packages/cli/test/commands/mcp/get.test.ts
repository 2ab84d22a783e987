import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../support/machine.ts";

const stdio = {
  command: "~/bin/server",
  args: ["--token", "canary-4711", "two words", ""],
  env: { A: "canary-4711", B: "$HOME", C: "Bearer ${secret:S}", D: "${E:-canary-4711}" },
  cwd: "sub",
  timeout: 5000,
  trust: true,
  description: "what it is for",
  includeTools: ["a", "b"],
  excludeTools: ["c"],
};

test("shows the whole entry, without literal values", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { s: stdio } } });
  const { code, stdout, stderr } = await here.run("mcp", "get", "s");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.replace(/fingerprint .*/, "fingerprint").replaceAll(here.path, "")).toBe(`s
  status        ready to start
  written in    /home/.gemini/settings.json:3:5 (user)
  transport     stdio
  command       ~/bin/server
  arguments     1: --token
                2: (hidden)
                3: two words
                4: 
  environment   A=(hidden)
                B=$HOME
                C=Bearer \${secret:S}
                D=\${E:-(hidden)}
  cwd           sub
  resolves to   /home/bin/server
                in /home/sub
  variables     HOME from the environment
                E from the default in the entry
  secrets       S from the secret store
  sandbox       not sandboxed
  timeout       5000 ms
  includeTools  a, b
  excludeTools  c
  roots         not sent (fairlead.servers.s.roots is false)
  trust         true, but it has no effect: the folder /project is not trusted: no rule covers it
                next: fairlead trust add
  description   what it is for
  fingerprint
  warning       the secret S is not stored: fairlead secret set S
`);
});

test("the same as a document", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { a: { command: "mine" } } },
    [projectFile]: {
      mcpServers: {
        a: {
          url: "https://example.com/mcp?key=canary-4711",
          headers: { Authorization: "Bearer canary-4711", "X-B": "$B" },
          oauth: { clientId: "me", clientSecret: "canary-4711" },
          typo: 1,
        },
      },
    },
  });
  await here.run("trust", "add", "--yes");
  const { stdout } = await here.run("mcp", "get", "a", "--json");
  expect(stdout).not.toContain("canary-4711");
  const file = `${here.project}/.gemini/settings.json`;
  const { fingerprint, problems, error, ...document } = JSON.parse(stdout) as {
    fingerprint: string;
    problems: { severity: string; code: string }[];
    error: { code: string };
  };
  expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
  expect(problems.map(({ severity, code }) => [severity, code])).toEqual([
    ["warning", "settings_invalid"],
    ["error", "variable_unset"],
  ]);
  expect(error.code).toBe("variable_unset");
  expect(document).toEqual({
    schemaVersion: 1,
    name: "a",
    signIn: { state: "none", by: "header" },
    status: "disconnected",
    reason: "variable_unset",
    transport: "http",
    scope: "workspace",
    origin: { scope: "workspace", file, line: 3, column: 5 },
    shadows: [{ scope: "user", file: `${here.home}/.gemini/settings.json`, line: 3, column: 5 }],
    url: "https://example.com/mcp?key=(hidden)",
    headers: { Authorization: "(hidden)", "X-B": "$B" },
    variables: [{ name: "B", from: "unset" }],
    secrets: [],
    authentication: { provider: "oauth", clientId: "me", clientSecret: "(hidden)" },
    timeout: 600_000,
    roots: [],
    trust: false,
    excludeTools: [],
    notes: [],
  });
});

test("why it does not start, and what to do", async () => {
  await using here = await machine({ [projectFile]: { mcpServers: { a: { command: "x" } } } });
  expect((await here.run("mcp", "get", "a")).stdout).toMatch(
    /status +blocked: folder not trusted\n +why .*\n +next +fairlead trust add\n/,
  );
});

test("an unknown name is answered with the nearest known one", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { github: { command: "x" } } } });
  const { code, stderr } = await here.run("mcp", "get", "gihtub");
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'fairlead: no server "gihtub" is configured; did you mean "github"?\n  next: fairlead mcp list\n',
  });
});

test.each([
  ["a trusted folder", ["trust", "add", "--yes"], "sent: PROJECT", ["PROJECT"]],
  ["a folder that is not trusted", ["trust", "list"], "not sent: the folder is not trusted", []],
])("the roots that the server gets in %s", async (_where, before, words, folders) => {
  await using here = await machine({
    [userFile]: { mcpServers: { a: { command: "x" } }, fairlead: { servers: { a: { roots: true } } } },
  });
  await here.run(...before);
  const { stdout } = await here.run("mcp", "get", "a");
  expect(stdout.replaceAll(here.project, "PROJECT")).toContain(`  roots        ${words}\n`);
  const document = JSON.parse((await here.run("mcp", "get", "a", "--json")).stdout);
  expect(document.roots).toEqual(folders.map(() => here.project));
});
