import type { SignInState } from "@fairlead/core/auth/store/sign-in-state";
import type { ServerState } from "@fairlead/core/events";
import type { Admission } from "@fairlead/core/trust/admit";
import { describe, expect, test } from "vitest";
import {
  colourOf,
  isConnectSettled,
  signInDocument,
  signInWords,
  stateWords,
  statusDocument,
  statusWords,
} from "../../../src/output/servers/server-state.ts";

const since = { name: "s", since: 0 };
const peer = { era: "legacy", protocolVersion: "2025-11-25", serverInfo: { name: "i", version: "1" } } as const;
const none = { tools: 0, prompts: 0, resources: 0, resourceTemplates: 0 };

const returning: ServerState = {
  ...since,
  status: "disconnected",
  reason: "backoff",
  nextTryAt: 1000,
  because: { reason: "server_exited", message: "gone" },
  message: "gone",
};

test("a server that comes back by itself is not said to have failed", () => {
  expect(stateWords(returning)).toBe("reconnecting");
  expect(stateWords(returning, 400)).toBe("reconnecting (in 1 s)");
  expect(stateWords({ ...returning, nextTryAt: 3_600_000 }, 0)).toBe("reconnecting (in 60 min)");
  expect(isConnectSettled(returning)).toBe(true);
});

describe("each state has its words, its colour, and a connection attempt that is over or not", () => {
  test.each<[state: ServerState, words: string, colour: string, settled: boolean]>([
    [{ ...since, status: "connecting" }, "connecting", "yellow", false],
    [{ ...since, status: "disconnecting" }, "disconnecting", "yellow", false],
    [{ ...since, status: "connected", peer }, "connected", "green", false],
    [{ ...since, status: "connected", peer, offer: none }, "connected: 0 tools", "green", true],
    [
      { ...since, status: "connected", peer, offer: { tools: 1, prompts: 1, resources: 1, resourceTemplates: 1 } },
      "connected: 1 tool, 1 prompt, 1 resource, 1 resource template",
      "green",
      true,
    ],
    [
      { ...since, status: "connected", peer, offer: { tools: 2, prompts: 0, resources: 3, resourceTemplates: 2 } },
      "connected: 2 tools, 3 resources, 2 resource templates",
      "green",
      true,
    ],
    [{ ...since, status: "disconnected", reason: "lazy" }, "idle", "red", false],
    [
      { ...since, status: "disconnected", reason: "start_limit", message: "5 times" },
      "failed: start limit",
      "red",
      true,
    ],
    [
      { ...since, status: "disconnected", reason: "settings_invalid", message: "" },
      "cannot start: invalid settings",
      "red",
      true,
    ],
    [
      { ...since, status: "disconnected", reason: "variable_unset", message: "" },
      "cannot start: variable not set",
      "red",
      true,
    ],
    [{ ...since, status: "needs_auth", reason: "auth_required", message: "" }, "needs sign-in", "yellow", true],
    [{ ...since, status: "disabled", reason: "user", message: "" }, "disabled", "yellow", true],
    [
      { ...since, status: "blocked", reason: "awaiting_approval", message: "" },
      "blocked: awaiting approval",
      "yellow",
      true,
    ],
    [
      { ...since, status: "blocked", reason: "untrusted_folder", message: "" },
      "blocked: folder not trusted",
      "yellow",
      true,
    ],
    [
      { ...since, status: "blocked", reason: "not_allowed", message: "" },
      "blocked: not in mcp.allowed",
      "yellow",
      true,
    ],
    [{ ...since, status: "blocked", reason: "excluded", message: "" }, "blocked: in mcp.excluded", "yellow", true],
  ])("%j", (state, words, colour, settled) => {
    expect(stateWords(state)).toBe(words);
    expect(colourOf(state)).toBe(colour);
    expect(isConnectSettled(state)).toBe(settled);
  });
});

describe("before a start, the words and the document say whether the server may start", () => {
  test.each<[admission: Admission, words: string, document: object]>([
    [{ status: "admitted" }, "ready to start", { status: "disconnected", reason: "lazy" }],
    [
      { status: "blocked", reason: "excluded", message: "m", next: "n" },
      "blocked: in mcp.excluded",
      { status: "blocked", reason: "excluded", error: { code: "denied", message: "m", next: "n" } },
    ],
    [
      { status: "disabled", reason: "user", message: "m", next: "n" },
      "disabled",
      { status: "disabled", reason: "user", error: { code: "denied", message: "m", next: "n" } },
    ],
    [
      { status: "disconnected", reason: "variable_unset", message: "m" },
      "cannot start: variable not set",
      { status: "disconnected", reason: "variable_unset", error: { code: "variable_unset", message: "m" } },
    ],
  ])("%j", (admission, words, document) => {
    expect(statusWords(admission)).toBe(words);
    expect(statusDocument(admission)).toEqual(document);
  });
});

describe("a sign-in is told with who, where, for what and until when", () => {
  const signedIn = { state: "signed_in", issuer: "https://id.example", scopes: [], isRenewable: false } as const;
  const expiresAt = Date.UTC(2030, 0, 2, 3, 4, 5);
  test.each<[signIn: SignInState, words: string]>([
    [{ state: "none", by: "program" }, 'no sign-in: a local program takes its credentials from "env" in settings.json'],
    [{ state: "none", by: "header" }, "no sign-in: settings.json sets an Authorization header"],
    [{ state: "none", by: "google" }, "automatic, with the Google credentials of this machine"],
    [{ state: "none", by: "service_account" }, "automatic, as a Google service account"],
    [{ state: "none", by: "machine" }, "automatic, with the credentials under machineAuth"],
    [{ state: "none", by: "google", problem: "a\u001bb" }, "cannot sign in: a␛b"],
    [{ state: "needed" }, "needs sign-in"],
    [{ state: "unknown" }, "not signed in; the server has not asked for a sign-in"],
    [signedIn, "signed in at https://id.example"],
    [{ ...signedIn, expiresAt }, "signed in at https://id.example, until 2030-01-02T03:04:05.000Z"],
    [{ ...signedIn, expiresAt, isRenewable: true }, "signed in at https://id.example"],
    [
      { ...signedIn, account: "ann", tokenHost: "t.example", scopes: ["read", "write"], expiresAt },
      "signed in as ann at https://id.example, tokens from t.example, for read, write, until 2030-01-02T03:04:05.000Z",
    ],
  ])("%j", (signIn, words) => {
    expect(signInWords(signIn)).toBe(words);
  });

  test("the document has the time of expiry as a date", () => {
    expect(signInDocument({ state: "needed" })).toEqual({ state: "needed" });
    expect(signInDocument(signedIn)).toEqual(signedIn);
    expect(signInDocument({ ...signedIn, account: "ann", expiresAt })).toEqual({
      ...signedIn,
      account: "ann",
      expiresAt: "2030-01-02T03:04:05.000Z",
    });
  });
});
