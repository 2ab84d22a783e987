import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ServerDefinition } from "../../../src/settings/define/definition.ts";
import { createWorld, said, serverOf } from "../../support/load-settings.ts";

type Entry = Readonly<Record<string, unknown>>;

/** Loads one user entry `s`, written on one line. */
async function loadEntry(entry: unknown, env = {}) {
  await using world = await createWorld();
  await world.writeUser(`{ "mcpServers": { "s": ${typeof entry === "string" ? entry : JSON.stringify(entry)} } }`);
  const server = serverOf(await world.load({ env }), "s");
  return { server, problems: said(server.problems).map((line) => line.replace(/ \d+:\d+ server "s":/, "")) };
}

describe("the way to a server", () => {
  const ways: readonly [Entry, ServerDefinition["transport"]][] = [
    [
      { command: "npx", args: ["-y", "x"], env: { A: "1" }, cwd: "/d" },
      { kind: "stdio", command: "npx", args: ["-y", "x"], env: new Map([["A", "1"]]), cwd: "/d" },
    ],
    [
      { command: "npx", type: "stdio" },
      { kind: "stdio", command: "npx", args: [], env: new Map() },
    ],
    [{ httpUrl: "https://h/m" }, { kind: "http", url: "https://h/m", headers: new Map() }],
    [
      { httpUrl: "https://h/m", type: "http" },
      { kind: "http", url: "https://h/m", headers: new Map() },
    ],
    [
      { url: "https://h/m", type: "http" },
      { kind: "http", url: "https://h/m", headers: new Map() },
    ],
    [
      { url: "https://h/m", type: "streamable-http" },
      { kind: "http", url: "https://h/m", headers: new Map() },
    ],
    [
      { url: "https://h/m", transportType: "sse" },
      { kind: "sse", url: "https://h/m", headers: new Map() },
    ],
    [
      { url: "http://h", headers: { "X-A": "b" } },
      { kind: "http-or-sse", url: "http://h", headers: new Map([["X-A", "b"]]) },
    ],
  ];
  test.each(ways)("of %j is known without doubt", async (entry, transport) => {
    const { server, problems } = await loadEntry(entry);
    expect(problems).toEqual([]);
    expect(server.definition?.transport).toEqual(transport);
    expect(server.kind).toBe(transport.kind);
  });
});

describe("a mistake takes its server out and says what it is", () => {
  const mistakes: readonly [unknown, string][] = [
    [null, 'error "s" must be an object, not null'],
    [["node"], 'error "s" must be an object, not a list'],
    [{}, "error the entry has none of command, url and httpUrl; it must have exactly one of them"],
    [{ command: "a", url: "http://b" }, "error the entry has command and url; it must have exactly one of them"],
    [
      { command: "a", url: "http://b", httpUrl: "http://c" },
      "error the entry has command and url and httpUrl; it must have exactly one of them",
    ],
    [{ command: "" }, 'error "command" is empty'],
    [{ command: "$EMPTY" }, 'error "command" is empty once its variables are filled in'],
    [{ command: ["npx", "x"] }, 'error "command" must be text, not a list'],
    [{ command: "a\0b" }, 'error "command" has a NUL character in it'],
    [{ command: "a", args: "--x" }, 'error "args" must be a list of texts, not text'],
    [{ command: "a", args: ["--port", 80] }, 'error item 2 of "args" must be text, not a number'],
    [{ command: "a", args: ["\0"] }, 'error item 1 of "args" has a NUL character in it'],
    [{ command: "a", env: [] }, 'error "env" must be an object, not a list'],
    [{ command: "a", env: { A: null } }, 'error "A" must be text, not null'],
    [{ command: "a", env: { "A=B": "x" } }, 'error "A=B" cannot be the name of an environment variable'],
    [{ command: "a", cwd: null }, 'error "cwd" must be text, not null'],
    [{ url: "example.com" }, 'error "url" is "example.com", which is not a URL'],
    [{ url: "file:///etc/passwd" }, 'error "url" is "file:///etc/passwd", which is not an http:// or https:// URL'],
    [{ httpUrl: "ws://h" }, 'error "httpUrl" is "ws://h", which is not an http:// or https:// URL'],
    [{ url: "$HOST" }, 'error "url" is "$HOST", which is not a URL once its variables are filled in'],
    [{ url: "http://h", type: "htpp" }, 'error "type" is "htpp", which is none of stdio, http, sse, streamable-http'],
    [{ url: "http://h", headers: { "a b": "x" } }, 'error "a b" cannot be the name of a header'],
    [{ url: "http://h", headers: { A: "x\r\nB: y" } }, 'error "A" has a line break in it'],
    [{ command: "a", timeout: 0 }, 'error "timeout" is 0; it must be between 1 and 2147483647'],
    [{ command: "a", timeout: -5 }, 'error "timeout" is -5; it must be between 1 and 2147483647'],
    [{ command: "a", timeout: 1e12 }, 'error "timeout" is 1000000000000; it must be between 1 and 2147483647'],
    [{ command: "a", timeout: "5s" }, 'error "timeout" must be a number, not text'],
    [{ command: "a", trust: "yes" }, 'error "trust" must be true or false, not text'],
    [{ command: "a", includeTools: "x" }, 'error "includeTools" must be a list of texts, not text'],
    [{ url: "http://h", oauth: true }, 'error "oauth" must be an object, not true or false'],
    [{ url: "http://h", oauth: { scopes: "a" } }, 'error "scopes" must be a list of texts, not text'],
    [{ url: "http://h", oauth: { tokenUrl: "nowhere" } }, 'error "oauth.tokenUrl" is "nowhere", which is not a URL'],
    [
      { url: "http://h", authProviderType: "gogle" },
      'error "authProviderType" is "gogle", which is none of oauth, google, sa-impersonation, dynamic_discovery, google_credentials, service_account_impersonation',
    ],
    [
      { command: "a", authProviderType: "google_credentials" },
      'error "authProviderType": "google_credentials" needs "url" or "httpUrl"',
    ],
    [
      { url: "http://h", authProviderType: "google", oauth: { scopes: [] } },
      'error Google credentials need "oauth": { "scopes": […] } as well',
    ],
    [
      { command: "a", authProviderType: "sa-impersonation", targetAudience: "a", targetServiceAccount: "b" },
      'error "authProviderType": "sa-impersonation" needs "url" or "httpUrl"',
    ],
    [
      { url: "http://h", authProviderType: "sa-impersonation" },
      "error service account impersonation needs targetAudience and targetServiceAccount",
    ],
    [
      { url: "http://h", authProviderType: "service_account_impersonation", targetAudience: "a" },
      "error service account impersonation needs targetServiceAccount",
    ],
    [{ command: "${A" }, 'error "command" cannot be expanded: "${A" has no closing "}"'],
    [
      { command: "a", env: { X: "${env:HOME}" } },
      'error "env.X" cannot be expanded: "${env:HOME}" is not a reference; write ${NAME}, ${NAME:-default} or ${secret:NAME}',
    ],
    [
      { command: "a", args: ["${A:-${B}}"] },
      'error "args[0]" cannot be expanded: "${A:-${B}" is not a reference; write ${NAME}, ${NAME:-default} or ${secret:NAME}',
    ],
    [
      { command: "${secret:TOOL}" },
      'error "command" uses the secret TOOL; a command and its folder are shown to the user, so they must not contain a secret',
    ],
    [
      { command: "a", cwd: "/${secret:D}" },
      'error "cwd" uses the secret D; a command and its folder are shown to the user, so they must not contain a secret',
    ],
  ];
  test.each(mistakes)("%j", async (entry, message) => {
    const { server, problems } = await loadEntry(entry, { EMPTY: "", HOST: "secret-host" });
    expect(problems).toEqual([message]);
    expect(server.definition).toBeUndefined();
    expect(server.problems[0]).toMatchObject({ code: "settings_invalid", serverName: "s", origin: { line: 1 } });
  });

  test("a text that no program could take", async () => {
    const { server, problems } = await loadEntry({ command: "a", args: ["$A".repeat(100_000)] });
    expect(problems).toEqual(['error item 1 of "args" is longer than 131072 characters']);
    expect(server.definition).toBeUndefined();
  });

  test("very many mistakes, of which the first hundred are named", async () => {
    const args = Array.from({ length: 1000 }, (_, index) => `$UNSET_${index}`);
    const { server, problems } = await loadEntry({ command: "a", args });
    expect([problems.length, server.definition?.resolved]).toEqual([100, undefined]);
  });

  test.each(["", " ", "a\u0007b", "\u009b", "a\nb", "git\u200bhub", "a\u202eb", "a\ufe0f", "a\u00adb"])(
    "the name %j",
    async (name) => {
      await using world = await createWorld();
      await world.writeUser({ mcpServers: { [name]: { command: "x" }, fine: { command: "x" } } });
      const settings = await world.load();
      expect(serverOf(settings, name).definition).toBeUndefined();
      expect(serverOf(settings, "fine").definition).toBeDefined();
    },
  );

  test("what cannot be seen in a name is shown in the message", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcpServers: { "git\u200bhub": { command: "x" } } });
    const [problem] = serverOf(await world.load(), "git\u200bhub").problems;
    expect(problem?.message).toContain('the name "git⟨U+200B⟩hub" has invisible characters');
  });
});

describe("what is odd is said, and changes nothing else", () => {
  const oddities: readonly [unknown, readonly string[]][] = [
    [{ command: "a", timeot: 5 }, ['warning "timeot" is not a known key here and is ignored']],
    [
      { command: "a", env: { PORT: 80, ON: true } },
      [
        'warning "PORT" is 80; Fairlead uses it as the text "80"',
        'warning "ON" is true; Fairlead uses it as the text "true"',
      ],
    ],
    [{ url: "http://h", type: "stdio" }, ['warning the transport "stdio" does not match "url"; Fairlead uses "url"']],
    [
      { httpUrl: "http://h", type: "sse" },
      ['warning the transport "sse" does not match "httpUrl"; Fairlead uses "httpUrl"'],
    ],
    [
      { command: "a", type: "http" },
      ['warning the transport "http" does not match "command"; Fairlead uses "command"'],
    ],
    [
      { url: "http://h", type: "sse", transportType: "http" },
      ['warning "transportType" differs from "type"; Fairlead uses "type"'],
    ],
    [
      { url: "http://h", args: [], env: {}, cwd: "/" },
      ["args", "env", "cwd"].map((key) => `warning "${key}" has no effect together with "url"`),
    ],
    [
      { command: "a", headers: {}, oauth: {} },
      ["headers", "oauth"].map((key) => `warning "${key}" has no effect together with "command"`),
    ],
    [
      { command: "npx -y server" },
      ['warning "command" must name one program, without arguments; it is "npx -y server"'],
    ],
    [
      { url: "http://h", oauth: { tokenParamName: "t" } },
      ['warning "tokenParamName" is ignored: Tokens are never put into URLs.'],
    ],
    [
      { url: "http://h", targetAudience: "x" },
      ['warning "targetAudience" has an effect only with "authProviderType": "sa-impersonation"'],
    ],
  ];
  test.each(oddities)("%j", async (entry, messages) => {
    const { server, problems } = await loadEntry(entry);
    expect(problems).toEqual(messages);
    expect(server.definition).toBeDefined();
  });

  test.each([
    ["a repeated key", '{ "command": "1", "excludeTools": ["pay"], "excludeTools": [] }', ""],
    ["a repeated variable", '{ "command": "1", "env": { "A": "1", "A": "2" } }', ""],
    ["a repeated name", '{ "command": "1" }', '"a": { "command": "2" }, '],
  ])("an entry with %s is refused: either value may be the meant one", async (_, entry, first) => {
    await using world = await createWorld();
    await world.writeUser(`{ "mcpServers": { ${first}"b": { "command": "x" }, "a": ${entry} } }`);
    const settings = await world.load();
    expect(settings.servers.map(({ name }) => name).sort()).toEqual(["a", "b"]);
    expect(serverOf(settings, "b").definition).toBeDefined();
    expect(serverOf(settings, "a")).toMatchObject({
      problems: [
        {
          severity: "error",
          message: expect.stringMatching(/^server "a": ".*" is written more than once$/),
          next: "Remove all but one of them.",
        },
      ],
    });
    expect(serverOf(settings, "a").definition).toBeUndefined();
  });

  test("a near miss gets a suggestion, also at the top, where keys of other programs are ignored", async () => {
    await using world = await createWorld();
    await world.writeUser({
      mcpServer: {},
      theme: "dark",
      ui: {},
      mcp: { alowed: [] },
      fairlead: { stat: "lazy", zzz: 1 },
      security: { auth: {}, folderTrusts: {} },
    });
    const { problems } = await world.load();
    expect(problems.map(({ message, next }) => `${message} → ${next}`)).toEqual([
      '"mcpServer" is not a known key here and is ignored → Did you mean "mcpServers"?',
      '"alowed" is not a known key here and is ignored → Did you mean "allowed"?',
      '"stat" is not a known key here and is ignored → Did you mean "start"?',
      '"zzz" is not a known key here and is ignored → undefined',
      '"folderTrusts" is not a known key here and is ignored → Did you mean "folderTrust"?',
    ]);
  });
});

describe("the rest of an entry", () => {
  test("has defaults", async () => {
    const { server } = await loadEntry({ command: "a" });
    expect(server.definition).toMatchObject({
      timeout: 600_000,
      trust: false,
      excludeTools: [],
      authentication: { provider: "oauth", oauth: {} },
      extras: {
        start: "background",
        trustAnnotations: false,
        sampling: false,
        roots: false,
      },
    });
    expect(server.definition?.includeTools).toBeUndefined();
    expect(server.definition?.description).toBeUndefined();
  });

  test("is taken over as written", async () => {
    const oauth = {
      enabled: true,
      clientId: "c",
      clientSecret: "$S",
      authorizationUrl: "http://a",
      tokenUrl: "http://t",
      issuer: "http://i",
      registrationUrl: "http://r",
      scopes: ["s"],
      audiences: ["a"],
      redirectUri: "http://localhost:1/",
    };
    const { server } = await loadEntry(
      { url: "http://h", timeout: 5, trust: true, description: "d", includeTools: ["i"], excludeTools: ["e"], oauth },
      { S: "hidden" },
    );
    expect(server.definition).toMatchObject({
      timeout: 5,
      trust: true,
      description: "d",
      includeTools: ["i"],
      excludeTools: ["e"],
      authentication: { provider: "oauth", oauth },
    });
  });

  test.each([
    [{ authProviderType: "dynamic_discovery" }, { provider: "oauth", oauth: {} }],
    [
      { authProviderType: "google_credentials", oauth: { scopes: ["s"] } },
      { provider: "google", oauth: { scopes: ["s"] } },
    ],
    [
      { authProviderType: "service_account_impersonation", targetAudience: "a", targetServiceAccount: "b" },
      { provider: "sa-impersonation", targetAudience: "a", targetServiceAccount: "b" },
    ],
  ])("names who signs in: %j", async (keys, authentication) => {
    expect((await loadEntry({ url: "http://h", ...keys })).server.definition?.authentication).toEqual(authentication);
  });

  test("may use __proto__ as the name of a variable and of a header", async () => {
    const stdio = await loadEntry('{ "command": "a", "env": { "__proto__": "x" } }');
    const http = await loadEntry('{ "url": "http://h", "headers": { "__proto__": "x" } }');
    expect(stdio.server.definition?.resolved).toMatchObject({ env: new Map([["__proto__", "x"]]) });
    expect(http.server.definition?.resolved).toMatchObject({ headers: new Map([["__proto__", "x"]]) });
  });
});

describe("paths", () => {
  const rows: readonly [string, "command" | "cwd", (base: { home: string; folder: string }) => string][] = [
    ["node", "command", () => "node"],
    ["/bin/x", "command", () => "/bin/x"],
    ["./x", "command", ({ folder }) => join(folder, "x")],
    ["bin/x", "command", ({ folder }) => join(folder, "bin/x")],
    ["../x", "command", ({ folder }) => join(folder, "../x")],
    ["~/x", "command", ({ home }) => join(home, "x")],
    ["~other/x", "command", ({ folder }) => join(folder, "~other/x")],
    ["$REL/x", "command", ({ folder }) => join(folder, "rel/x")],
    ["$TILDE/x", "command", ({ folder }) => join(folder, "~/x")],
    ["sub", "cwd", ({ folder }) => join(folder, "sub")],
    [".", "cwd", ({ folder }) => folder],
    ["~", "cwd", ({ home }) => home],
    ["/d", "cwd", () => "/d"],
  ];
  test.each(rows)(
    "%s as %s resolves against the workspace root for its entries, else against home",
    async (path, key, expected) => {
      await using world = await createWorld();
      const entry = { command: "x", [key]: path };
      await world.writeUser({ mcpServers: { user: entry } });
      await world.writeWorkspace({ mcpServers: { workspace: entry } });
      const settings = await world.load({ env: { REL: "rel", TILDE: "~" } });
      const resolved = (name: string) => serverOf(settings, name).definition?.resolved;
      expect(resolved("user")).toMatchObject({ [key]: expected({ home: world.home, folder: world.home }) });
      expect(resolved("workspace")).toMatchObject({ [key]: expected({ home: world.home, folder: world.root }) });
    },
  );
});
