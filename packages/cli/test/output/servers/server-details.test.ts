import {
  approvalFields,
  authenticationDocument,
  type Field,
  layout,
  optionFields,
  positionText,
  problemLines,
  resolvedFields,
  resolvedValues,
  transportFields,
  transportWord,
} from "@fairlead/console/server/words/server-details";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { describe, expect, test } from "vitest";
import { definition, origin } from "../../support/server-definition.ts";

const show = toVisibleLine;
const lines = (fields: readonly Field[]): readonly SafeText[] =>
  fields.flatMap(({ label, values }) => values.map((value) => safe`${label}: ${value}`));

test("fields are aligned, a second value stands below the first, and a field without values is left out", () => {
  const fields = [
    { label: safe`a`, values: [safe`1`, safe`2`] },
    { label: safe`much longer`, values: [] },
    { label: safe`bcd`, values: [safe`3`] },
  ];
  expect(layout(fields, safe`  `)).toBe("  a    1\n       2\n  bcd  3");
  expect(layout([], safe`  `)).toBe("");
});

test("a program has its command, arguments, variables and folder; an address has its headers", () => {
  const stdio = {
    kind: "stdio",
    command: "run\u202e",
    args: ["a b", ""],
    env: new Map([
      ["A", "1"],
      ["B", "2"],
    ]),
    cwd: "/work",
  } as const;
  expect(lines(transportFields(stdio, show))).toEqual([
    `command: ${show("run\u202e")}`,
    "arguments: 1: a b",
    "arguments: 2: ",
    "environment: A=1",
    "environment: B=2",
    "cwd: /work",
  ]);
  const { cwd: _cwd, ...here } = stdio;
  expect(transportFields(here, show).at(-1)).toEqual({ label: "cwd", values: [] });
  for (const kind of ["http", "sse", "http-or-sse"] as const)
    expect(lines(transportFields({ kind, url: "https://x", headers: new Map([["H", "v"]]) }, show))).toEqual([
      "url: https://x",
      "headers: H: v",
    ]);
});

describe("resolved values are shown where they differ from the entry", () => {
  const stdio = { kind: "stdio", command: "run", args: [], env: new Map<string, string>() } as const;
  const http = { kind: "http", url: "https://$HOST/a", headers: new Map<string, string>() } as const;
  test.each([
    [stdio, undefined, []],
    [stdio, stdio, []],
    [stdio, { ...stdio, command: "/bin/run" }, ["/bin/run"]],
    [stdio, { ...stdio, cwd: "/w" }, ["in /w"]],
    [{ ...stdio, cwd: "/w" }, { ...stdio, cwd: "/w" }, []],
    [{ ...stdio, cwd: "w" }, { ...stdio, command: "/bin/run", cwd: "/w" }, ["/bin/run", "in /w"]],
    [http, http, []],
    [http, { ...http, url: "https://me:secret@example.com/a?b" }, ["https://example.com"]],
    [http, { ...http, url: "no address" }, ["no address"]],
  ])("%j as %j", (transport, resolved, values) => {
    expect(resolvedValues(definition({ transport, ...(resolved && { resolved }) }), show)).toEqual(values);
  });

  test("with the origin of each variable and secret", () => {
    const sources = [
      "environment",
      "user-env-file",
      "workspace-env-file",
      "workspace-root",
      "default",
      "unset",
      "not-looked-up",
    ] as const;
    const variables = sources.map((from) => ({ name: "V", from }));
    expect(lines(resolvedFields(definition({ variables, secrets: ["S"] }), show))).toEqual([
      "variables: V from the environment",
      "variables: V from your .env file",
      "variables: V from the workspace's .env file",
      "variables: V is the workspace root",
      "variables: V from the default in the entry",
      "variables: V is not set",
      "variables: V is not looked up in an untrusted folder",
      "secrets: S from the secret store",
    ]);
  });
});

describe("the options of an entry", () => {
  const look = { show, hide: () => "(hidden)" };
  test("are the timeout alone, if nothing else is written", () => {
    expect(lines(optionFields(definition(), look))).toEqual(["sandbox: not sandboxed", "timeout: 1000 ms"]);
  });

  test("are filters and sign-in too, with the secret hidden", () => {
    const authentication = { provider: "oauth", oauth: { clientId: "c", clientSecret: "s" } } as const;
    const given = definition({ authentication, includeTools: ["a", "b"], excludeTools: ["c", "d"] });
    expect(lines(optionFields(given, look))).toEqual([
      "sign-in: provider: oauth",
      "sign-in: clientId: c",
      "sign-in: clientSecret: (hidden)",
      "sandbox: not sandboxed",
      "timeout: 1000 ms",
      "includeTools: a, b",
      "excludeTools: c, d",
    ]);
    expect(lines(optionFields(definition({ includeTools: [] }), look))).toEqual([
      "sandbox: not sandboxed",
      "timeout: 1000 ms",
      "includeTools: (none)",
    ]);
    const google = definition({ authentication: { provider: "google", oauth: {} } });
    expect(lines(optionFields(google, look))).toEqual([
      "sign-in: provider: google",
      "sandbox: not sandboxed",
      "timeout: 1000 ms",
    ]);
  });

  test("a sign-in as JSON hides only a secret that is there", () => {
    const hide = (text: string): string => `<${text}>`;
    expect(authenticationDocument({ provider: "oauth", oauth: { clientId: "c" } }, hide)).toEqual({
      provider: "oauth",
      clientId: "c",
    });
    expect(authenticationDocument({ provider: "google", oauth: { clientSecret: "s" } }, hide)).toEqual({
      provider: "google",
      clientSecret: "<s>",
    });
    const account = { provider: "sa-impersonation", targetAudience: "a", targetServiceAccount: "b" } as const;
    expect(authenticationDocument(account, hide)).toEqual(account);
  });
});

test("a problem has its position, its severity and what to do", () => {
  const problem = { severity: "error", code: "settings_invalid", message: "m\u001b" } as const;
  expect(problemLines(problem)).toBe("error: m␛");
  expect(problemLines({ ...problem, origin, next: "n" })).toBe("/home/settings.json:3:5: error: m␛\n  next: n");
  expect(positionText(origin, () => toSafeLine("f"))).toBe("f:3:5");
});

test.each([
  [undefined, "unknown"],
  ["http-or-sse", "http"],
  ["http", "http"],
  ["sse", "sse"],
  ["stdio", "stdio"],
] as const)("the transport %s is called %s", (kind, word) => {
  expect(transportWord(kind)).toBe(word);
});

describe("what is approved is shown in full", () => {
  const shadows = [{ ...origin, line: 9 }];
  const shown = (given: Parameters<typeof definition>[0]) => lines(approvalFields(definition(given), { shadows: [] }));
  const start = ["written in: /home/settings.json:3:5", "transport: stdio", "command: run"];

  test("the entry as it is written, with what it replaces", () => {
    expect(lines(approvalFields(definition({ trust: true, secrets: ["S"] }), { shadows }))).toEqual([
      "written in: /home/settings.json:3:5",
      "replaces: your entry /home/settings.json:9:5 (user)",
      "transport: stdio",
      "command: run",
      "arguments: 1: a",
      "arguments: 2: --token",
      "arguments: 3: abc",
      "secrets: S from the secret store",
      "sandbox: not sandboxed",
      "timeout: 1000 ms",
      "trust: true: the server's tools run without confirmation",
    ]);
  });

  test("the files that it runs, with the digest of those that the workspace has", () => {
    const programs = [{ file: "/bin/run" }, { file: "gone" }, { file: "/work/run.js", digest: "0123456789abcdef" }];
    const transport = { kind: "stdio", command: "run", args: [], env: new Map() } as const;
    expect(shown({ transport, programs })).toEqual([
      ...start,
      "runs: /bin/run",
      "runs: gone (not found)",
      "runs: /work/run.js (SHA-256 0123456789ab…)",
      "sandbox: not sandboxed",
      "timeout: 1000 ms",
    ]);
  });

  test("values of the workspace's variables, but not the user's own", () => {
    const transport = {
      kind: "stdio",
      command: "run",
      args: ["$MINE", "$THEIRS"],
      env: new Map([
        ["A", "${MINE}"],
        ["B", "$THEIRS"],
      ]),
    } as const;
    const variables = [
      { name: "MINE", from: "environment" },
      { name: "THEIRS", from: "workspace-env-file" },
    ] as const;
    const values = new Map([
      ["MINE", "canary"],
      ["THEIRS", "v"],
    ]);
    expect(shown({ transport, variables, values })).toEqual([
      ...start,
      "arguments: 1: $MINE",
      "arguments: 2: $THEIRS",
      "environment: A=${MINE}",
      "environment: B=$THEIRS",
      "resolves to: run",
      "resolves to: 1: ${MINE}",
      "resolves to: 2: v",
      "resolves to: B=v",
      "variables: MINE from the environment",
      "variables: THEIRS from the workspace's .env file: v",
      "sandbox: not sandboxed",
      "timeout: 1000 ms",
    ]);
    const same = { ...transport, args: ["$MINE"], env: new Map([["A", "${MINE}"]]) };
    expect(shown({ transport: same, variables: variables.slice(0, 1), values })).not.toContainEqual(
      expect.stringContaining("resolves to"),
    );
  });

  test("the address that is reached, headers and endpoints of the sign-in", () => {
    const transport = {
      kind: "http",
      url: "http://$HOST/mcp",
      headers: new Map([["X-Where", "$THEIRS"]]),
    } as const;
    const variables = [
      { name: "HOST", from: "user-env-file" },
      { name: "THEIRS", from: "workspace-env-file" },
    ] as const;
    const values = new Map([
      ["HOST", "mine.example"],
      ["THEIRS", "v"],
    ]);
    const resolved = { ...transport, url: "http://mine.example/mcp" };
    const authentication = {
      provider: "oauth",
      oauth: { issuer: "https://$THEIRS", clientId: "c", scopes: ["$THEIRS", "b"] },
    } as const;
    expect(shown({ transport, resolved, variables, values, authentication })).toEqual([
      "written in: /home/settings.json:3:5",
      "transport: http",
      "url: http://$HOST/mcp",
      "headers: X-Where: $THEIRS",
      "resolves to: http://mine.example",
      "resolves to: X-Where: v",
      "resolves to: oauth.issuer: https://v",
      "resolves to: oauth.scopes: v",
      "variables: HOST from your .env file",
      "variables: THEIRS from the workspace's .env file: v",
      "sign-in: provider: oauth",
      "sign-in: issuer: https://$THEIRS",
      "sign-in: clientId: c",
      "sign-in: scopes: $THEIRS,b",
      "timeout: 1000 ms",
      "note: not encrypted: others on the network can read and change requests",
    ]);
  });
});
