import type { ServerState } from "@fairlead/core/events";
import { expect, test } from "vitest";
import { contextWords, hasMoving, serverWords } from "../../../src/tui/state/status.ts";

const offer = { tools: 1, prompts: 0, resources: 0, resourceTemplates: 0 };
const peer = { era: "legacy", protocolVersion: "2025-06-18", serverInfo: { name: "s", version: "1" } } as const;
const ready = (name: string): ServerState => ({ name, since: 0, status: "connected", peer, offer });
const because = { reason: "server_exited", message: "it ended" } as const;

const starting = (name: string, since: number): ServerState => ({ name, since, status: "connecting" });
const excluded: ServerState = { name: "x", since: 0, status: "blocked", reason: "excluded", message: "" };
const again: ServerState = {
  name: "b",
  since: 0,
  status: "disconnected",
  reason: "backoff",
  nextTryAt: 11_000,
  because,
  message: "again soon",
};

test.each<[string, readonly ServerState[], string]>([
  ["none", [], "no servers"],
  [
    "all that matters, in one order",
    [
      { name: "mail", since: 0, status: "needs_auth", reason: "auth_required", message: "sign in" },
      ready("a"),
      { name: "github", since: 6_000, status: "connecting" },
      ready("b"),
      ready("c"),
    ],
    "3 ready · 1 starting (github 4 s) · 1 needs sign-in (mail)",
  ],
  [
    "connected, and its lists are still being read",
    [{ name: "a", since: 10_000, status: "connected", peer }],
    "1 starting (a)",
  ],
  [
    "a failed server, one that reconnects, an idle one, and a disabled one that is left out",
    [
      { name: "a", since: 0, status: "disconnected", ...because },
      again,
      { name: "c", since: 0, status: "disconnected", reason: "lazy" },
      { name: "d", since: 0, status: "disabled", reason: "user", message: "off" },
    ],
    "1 reconnecting (b in 1 s) · 1 failed (a) · 1 idle",
  ],
  [
    "what waits for the person, and what the settings keep out",
    [
      { name: "a", since: 0, status: "blocked", reason: "awaiting_approval", message: "approve it" },
      { name: "b", since: 0, status: "blocked", reason: "untrusted_folder", message: "trust it" },
      { name: "c", since: 0, status: "blocked", reason: "excluded", message: "excluded" },
    ],
    "2 awaiting approval · 1 blocked",
  ],
  ["two of a kind, both named", [starting("a", 10_000), starting("b", 9_000)], "2 starting (a, b 1 s)"],
  ["a server that starts since less than a second", [starting("a", 9_001)], "1 starting (a)"],
  ["a server that stops, without its name", [{ name: "a", since: 0, status: "disconnecting" }], "1 stopping"],
  ["the demo server alone", [ready("demo")], "1 ready"],
  ["the demo server beside another one, which is not shown", [ready("demo"), starting("a", 10_000)], "1 starting (a)"],
  [
    "only disabled servers",
    [{ name: "d", since: 0, status: "disabled", reason: "user", message: "off" }],
    "no servers",
  ],
  ["a name with a control character", [starting("a\u001bb", 10_000)], "1 starting (a␛b)"],
  [
    "one of each kind, in the order of the status line",
    [
      { name: "i", since: 0, status: "disconnected", reason: "lazy" },
      { name: "h", since: 0, status: "blocked", reason: "excluded", message: "" },
      { name: "g", since: 0, status: "blocked", reason: "awaiting_approval", message: "" },
      { name: "f", since: 0, status: "disconnected", ...because },
      { name: "e", since: 0, status: "needs_auth", reason: "auth_required", message: "" },
      { name: "d", since: 0, status: "disconnecting" },
      { ...again, name: "c" },
      starting("b", 0),
      ready("a"),
    ],
    "1 ready · 1 starting (b 10 s) · 1 reconnecting (c in 1 s) · 1 stopping · 1 needs sign-in (e) · 1 failed (f) · 1 awaiting approval · 1 blocked · 1 idle",
  ],
  ["a server that the settings exclude", [excluded], "1 blocked"],
  ["two servers that the settings exclude", [excluded, { ...excluded, name: "y" }], "2 blocked"],
  [
    "of many, two are named",
    ["a", "b", "c"].map((name) => ({ name, since: 10_000, status: "connecting" }) as const),
    "3 starting (a, b, …)",
  ],
])("%s", (_, servers, words) => {
  expect(serverWords(servers, 10_000)).toBe(words);
});

test("the share of the context, by kind", () => {
  const tokens = { declarations: 1_240, history: 14_000, results: 5_000, context: 128_000 };
  expect(contextWords(tokens)).toBe("12 % of the context: tools 1.2k, messages 9k, results 5k");
  expect(contextWords({ declarations: 0, history: 12, results: 0, context: 1_000 })).toBe(
    "1 % of the context: tools 0, messages 12, results 0",
  );
});

test("the app counts seconds only while a server starts or reconnects", () => {
  const still: readonly ServerState[] = [
    ready("a"),
    { name: "b", since: 0, status: "disconnecting" },
    { name: "c", since: 0, status: "disabled", reason: "user", message: "off" },
    { name: "d", since: 0, status: "disconnected", reason: "lazy" },
    { name: "e", since: 0, status: "disconnected", ...because },
  ];
  expect([[], still].map(hasMoving)).toEqual([false, false]);
  expect(
    [
      [...still, starting("x", 0)],
      [again, ...still],
    ].map(hasMoving),
  ).toEqual([true, true]);
});

test.each([
  [0, "0"],
  [999, "999"],
  [1_000, "1k"],
  [1_049, "1k"],
  [1_050, "1.1k"],
  [9_949, "9.9k"],
  [9_999, "10k"],
  [10_000, "10k"],
  [10_499, "10k"],
  [10_500, "11k"],
  [123_456, "123k"],
])("%d tokens are written as %s", (declarations, words) => {
  expect(contextWords({ declarations, history: 0, results: 0, context: 1_000_000 })).toContain(
    `tools ${words}, messages 0, results 0`,
  );
});
