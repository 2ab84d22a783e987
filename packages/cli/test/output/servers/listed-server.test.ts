import type { ServerState } from "@fairlead/core/events";
import { type SafeText, toSafeLine } from "@fairlead/core/text/safe-text";
import { describe, expect, test } from "vitest";
import { type ListedServer, serverDocument, serverText } from "../../../src/output/servers/server-state.ts";
import { marked, plain } from "../../support/plain-style.ts";
import { configured, definition, origin } from "../../support/server-definition.ts";

const since = { name: "s", since: 0 };
const peer = {
  era: "modern",
  protocolVersion: "2026-07-28",
  serverInfo: { name: "i", version: "1" },
  transport: "sse",
} as const;
const counts = { tools: 2, prompts: 1, resources: 3, resourceTemplates: 0 };
const idle: ServerState = { ...since, status: "disconnected", reason: "lazy" };
const connected: ServerState = { ...since, status: "connected", peer, offer: counts };
const gone: ServerState = {
  ...since,
  status: "disconnected",
  reason: "server_exited",
  message: "it ended\u001b",
  next: "fairlead mcp logs s",
};
const signedIn = { state: "signed_in", issuer: "https://id.example", scopes: [], isRenewable: true } as const;
const remote = configured({
  kind: "http-or-sse",
  definition: definition({
    transport: { kind: "http-or-sse", url: "https://me:pass@example.com/mcp", headers: new Map() },
  }),
});

const { definition: _definition, ...invalid } = configured({
  kind: undefined,
  problems: [
    { severity: "error", code: "settings_invalid", message: "it ended" },
    { severity: "warning", code: "settings_invalid", message: "other\u001b" },
  ],
});

const typed = (text: SafeText): SafeText => toSafeLine(text.replace("fairlead", "npx --no -- fairlead"));
const whole = { typed, verbose: true, showsSharing: true, columns: Number.POSITIVE_INFINITY, widestName: 8 };
const text = (listed: ListedServer): readonly string[] => serverText(listed, { ...whole, style: plain }).split("\n");
const short = (listed: ListedServer): readonly string[] =>
  serverText(listed, { ...whole, style: plain, verbose: false }).split("\n");

const hour = 3_600_000;
const first = ["  stdio: run a --token (hidden)", "  from /home/settings.json:3:5 (user)", "  not sandboxed"];

describe("a listed server has lines only for what there is to say", () => {
  test.each<[what: string, listed: ListedServer, lines: readonly string[]]>([
    ["idle", { server: configured(), state: idle }, ["s  idle", ...first]],
    [
      "connected, with its cost and the transport that was agreed on",
      { server: configured(), state: connected, tokens: 12_345, changed: [] },
      [
        "s  connected: 2 tools, 1 prompt, 3 resources, about 12 345 tokens",
        "  sse: run a --token (hidden)",
        ...first.slice(1),
      ],
    ],
    [
      "connected, with a note and a gateway",
      { server: configured(), state: { ...connected, offer: { ...counts, note: "old\u001b" } }, share: "all" },
      [
        "s  connected: 2 tools, 1 prompt, 3 resources",
        "  sse: run a --token (hidden)",
        ...first.slice(1),
        "  gateway: shared by all clients",
        "  note: old␛",
      ],
    ],
    [
      "one connection for each client",
      { server: configured(), state: idle, share: "client" },
      ["s  idle", ...first, "  gateway: one connection for each client"],
    ],
    [
      "an address without its password, and a sign-in",
      { server: remote, state: idle, signIn: signedIn },
      ["s  idle", "  http: https://me:(hidden)@example.com/mcp", first[1] ?? "", "  signed in at https://id.example"],
    ],
    [
      "a sign-in that is needed again is said once",
      {
        server: remote,
        state: { ...since, status: "needs_auth", reason: "auth_required", message: "expired" },
        signIn: signedIn,
      },
      ["s  needs sign-in", "  http: https://me:(hidden)@example.com/mcp", first[1] ?? "", "  why: expired"],
    ],
    [
      "no sign-in needs no line",
      { server: configured(), state: idle, signIn: { state: "none", by: "program" } },
      ["s  idle", ...first],
    ],
    [
      "changed definitions and replaced entries",
      {
        server: configured({
          shadows: [
            { ...origin, line: 7 },
            { ...origin, scope: "system", file: "/etc/s.json" },
          ],
        }),
        state: idle,
        changed: ["a", "b"],
      },
      [
        "s  idle",
        ...first,
        "  changed definitions: a, b",
        "  replaces /home/settings.json:7:5 (user)",
        "  replaces /etc/s.json:3:5 (system)",
      ],
    ],
    [
      "a failure with what to do, in words that can be typed here",
      { server: configured(), state: gone },
      ["s  failed: server exited", ...first, "  why: it ended␛", "  next: npx --no -- fairlead mcp logs s"],
    ],
    [
      "an invalid entry; what the state has said already is not repeated",
      {
        server: invalid,
        state: gone,
      },
      [
        "s  failed: server exited",
        "  unknown: ?",
        first[1] ?? "",
        "  why: it ended␛",
        "  next: npx --no -- fairlead mcp logs s",
        "  warning: other␛",
      ],
    ],
  ])("%s", (_what, listed, lines) => {
    expect(text(listed)).toEqual(lines);
  });

  test("the name is bold and the state has the colour of the state", () => {
    expect(serverText({ server: configured(), state: idle }, { ...whole, style: marked })).toMatch(
      /^<bold>s<\/> {2}<red>idle<\/>\n/,
    );
    expect(serverText({ server: configured(), state: connected, tokens: 5 }, { ...whole, style: marked })).toContain(
      "<green>connected: 2 tools, 1 prompt, 3 resources, about 5 tokens</>",
    );
  });

  test("a cached catalog has its age, its cost and the transport of its time", () => {
    const cachedCatalog = { server: "s", offer: counts, peer, savedAt: Date.now() - 5.5 * hour };
    expect(text({ server: configured(), state: idle, cachedCatalog, tokens: 1000 })).toEqual([
      "s  idle",
      "  sse: run a --token (hidden)",
      ...first.slice(1),
      "  cached: 2 tools, 1 prompt, 3 resources, about 1 000 tokens (5 hours ago)",
    ]);
    expect(text({ server: configured(), state: idle, cachedCatalog: { server: "s", offer: counts } })).toEqual([
      "s  idle",
      ...first,
    ]);
  });

  test("an earlier failure has its reason only where the state has none", () => {
    const failed = {
      server: "s",
      failures: 3,
      failedAt: Date.now() - 3.5 * hour,
      nextTryAt: Date.now() + 5.5 * hour,
      message: "refused\u001b",
    };
    const skipped = "  failed 3 times in a row: commands that do not name this server skip it for 6 h";
    expect(text({ server: configured(), state: idle, failed })).toEqual([
      "s  idle",
      ...first,
      "  why: refused␛ (3 hours ago)",
      skipped,
    ]);
    expect(text({ server: configured(), state: gone, failed })).toEqual([
      "s  failed: server exited",
      ...first,
      "  why: it ended␛",
      "  next: npx --no -- fairlead mcp logs s",
      skipped,
    ]);
  });
});

describe("without --verbose a server has one line, and a second one if the user should do something", () => {
  const blocked = { ...since, status: "blocked", message: "long", next: "fairlead trust add" } as const;
  const off: ServerState = {
    ...since,
    status: "disabled",
    reason: "user",
    message: "long",
    next: "fairlead mcp enable s",
  };
  const failed = { server: "s", failures: 3, failedAt: 0, nextTryAt: 0, message: "refused" };
  test.each<[what: string, listed: ListedServer, lines: readonly string[]]>([
    [
      "connected",
      { server: remote, state: connected, tokens: 12_345, share: "all", signIn: signedIn },
      ["s  connected: 2 tools, 1 prompt, 3 resources, about 12 345 tokens"],
    ],
    ["idle after failures", { server: configured({ shadows: [origin] }), state: idle, failed }, ["s  idle"]],
    [
      "cached",
      {
        server: configured(),
        state: idle,
        cachedCatalog: { server: "s", offer: counts, savedAt: Date.now() - 5.5 * hour },
      },
      ["s  idle; cached: 2 tools, 1 prompt, 3 resources (5 hours ago)"],
    ],
    [
      "failed: the reason, and what to do",
      { server: configured(), state: gone, failed },
      ["s  failed: it ended␛", "  next: npx --no -- fairlead mcp logs s"],
    ],
    [
      "reconnecting",
      {
        server: configured(),
        state: {
          ...since,
          status: "disconnected",
          reason: "backoff",
          nextTryAt: 1,
          because: { reason: "server_exited", message: "m" },
          message: "it ended",
        },
      },
      ["s  reconnecting: it ended"],
    ],
    [
      "an entry that cannot start, with another mistake in it",
      { server: invalid, state: { ...since, status: "disconnected", reason: "settings_invalid", message: "it ended" } },
      ["s  cannot start: it ended", "  warning: other␛"],
    ],
    ["disabled by the user", { server: configured(), state: off }, ["s  disabled"]],
    [
      "excluded by the user",
      { server: configured(), state: { ...blocked, reason: "excluded" } },
      ["s  blocked: in mcp.excluded"],
    ],
    [
      "blocked until the user decides",
      { server: configured(), state: { ...blocked, reason: "untrusted_folder" } },
      ["s  blocked: folder not trusted", "  next: npx --no -- fairlead trust add"],
    ],
    [
      "a note and changed definitions",
      { server: configured(), state: { ...connected, offer: { ...counts, note: "cut" } }, changed: ["a", "b"] },
      ["s  connected: 2 tools, 1 prompt, 3 resources", "  note: cut", "  changed definitions: a, b"],
    ],
  ])("%s", (_what, listed, lines) => {
    expect(short(listed)).toEqual(lines);
  });
});

describe("on a terminal", () => {
  const shown = (listed: ListedServer, columns: number): readonly string[] =>
    serverText(listed, { ...whole, style: plain, verbose: false, columns }).split("\n");

  test("the states begin in one column, and a line that is too long is cut between words", () => {
    const listed: ListedServer = { server: configured(), state: connected, tokens: 1234 };
    expect(shown(listed, 80)).toEqual(["s         connected: 2 tools, 1 prompt, 3 resources, about 1 234 tokens"]);
    expect(shown(listed, 50)).toEqual(["s         connected: 2 tools, 1 prompt, …"]);
    expect(shown(listed, 40)).toEqual(["s         connected: 2 tools, …"]);
  });

  test("a next step is wrapped between words, and everything else with --verbose", () => {
    const state: ServerState = {
      name: "s",
      since: 0,
      status: "disconnected",
      reason: "unreachable",
      message: "http://127.0.0.1:9/mcp cannot be reached",
      next: "check the URL, then: fairlead mcp test s",
    };
    const listed: ListedServer = { server: configured(), state };
    expect(shown(listed, 50)).toEqual([
      "s         failed: http://127.0.0.1:9/mcp cannot …",
      "  next: check the URL, then:",
      "    npx --no -- fairlead mcp test s",
    ]);
    const lines = serverText(listed, { ...whole, style: plain, columns: 40 }).split("\n");
    expect(lines).toContain("  why: http://127.0.0.1:9/mcp cannot be");
    expect(lines).toContain("    reached");
  });
});

test("how clients of the gateway share a server is shown only to people who use the gateway", () => {
  const listed: ListedServer = { server: configured(), state: idle, share: "all" };
  expect(serverText(listed, { ...whole, style: plain, showsSharing: false })).not.toContain("gateway");
});

describe("the document of a server has the same facts", () => {
  const base = { name: "s", scope: "user", tools: 0, prompts: 0, resources: 0 };
  test.each<[what: string, listed: ListedServer, document: object]>([
    [
      "idle",
      { server: configured(), state: idle, changed: [] },
      { ...base, sandbox: "off", status: "disconnected", reason: "lazy", transport: "stdio" },
    ],
    [
      "connected",
      {
        server: configured(),
        state: connected,
        tokens: 0,
        share: "client",
        signIn: { ...signedIn, expiresAt: 0 },
        changed: ["a"],
      },
      {
        ...base,
        sandbox: "off",
        status: "connected",
        transport: "sse",
        tools: 2,
        prompts: 1,
        resources: 3,
        tokens: 0,
        protocolVersion: "2026-07-28",
        share: "client",
        signIn: { ...signedIn, expiresAt: "1970-01-01T00:00:00.000Z" },
        changed: ["a"],
      },
    ],
    [
      "cached, after failures",
      {
        server: remote,
        state: gone,
        cachedCatalog: { server: "s", offer: counts, savedAt: 1000 },
        failed: { server: "s", failures: 2, failedAt: 2000, nextTryAt: 3000, message: "m" },
      },
      {
        ...base,
        status: "disconnected",
        reason: "server_exited",
        transport: "http",
        tools: 2,
        prompts: 1,
        resources: 3,
        savedAt: "1970-01-01T00:00:01.000Z",
        skipped: { failures: 2, failedAt: "1970-01-01T00:00:02.000Z", until: "1970-01-01T00:00:03.000Z" },
        error: { code: "server_exited", message: "it ended\u001b", next: "fairlead mcp logs s" },
      },
    ],
    [
      "with a catalog that was not saved",
      { server: configured(), state: idle, cachedCatalog: { server: "s", offer: counts, peer } },
      {
        ...base,
        sandbox: "off",
        status: "disconnected",
        reason: "lazy",
        transport: "sse",
        tools: 2,
        prompts: 1,
        resources: 3,
      },
    ],
  ])("%s", (_what, listed, document) => {
    expect(serverDocument(listed)).toEqual(document);
  });
});
