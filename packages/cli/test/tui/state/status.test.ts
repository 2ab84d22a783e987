import type { ServerState } from "@fairlead/core/events";
import { expect, test } from "vitest";
import { contextWords, serverWords } from "../../../src/tui/state/status.ts";

const offer = { tools: 1, prompts: 0, resources: 0, resourceTemplates: 0 };
const peer = { era: "legacy", protocolVersion: "2025-06-18", serverInfo: { name: "s", version: "1" } } as const;
const ready = (name: string): ServerState => ({ name, since: 0, status: "connected", peer, offer });
const because = { reason: "server_exited", message: "it ended" } as const;

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
      {
        name: "b",
        since: 0,
        status: "disconnected",
        reason: "backoff",
        nextTryAt: 11_000,
        because,
        message: "again soon",
      },
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
