import { seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import type { CatalogCounts, Failure, Peer, ServerState } from "../../src/events.ts";
import {
  initialServerState,
  notConnectedError,
  type ServerChange,
  toFailure,
  transition,
} from "../../src/server/server-state.ts";

const at = { name: "s", since: 1 };
const now = { name: "s", since: 2 };
const peer: Peer = {
  era: "legacy",
  protocolVersion: "2025-11-25",
  serverInfo: { name: "x", version: "1" },
  transport: "stdio",
};
const offer: CatalogCounts = { tools: 2, prompts: 0, resources: 0, resourceTemplates: 0 };
const planted = { reason: "untrusted_folder", message: "planted", next: "trust" } as const;
const exited: Failure = { reason: "server_exited", message: "gone", next: "look", evidence: "last words" };
const tooOften: Failure = { reason: "start_limit", message: "again and again", next: "test" };
const unsigned: Failure = { reason: "auth_required", message: "sign in" };
const cancelled: Failure = { reason: "cancelled", message: "never mind" };

const states = {
  lazy: { ...at, status: "disconnected", reason: "lazy" },
  failed: { ...at, status: "disconnected", ...exited },
  waiting: {
    ...at,
    status: "disconnected",
    reason: "backoff",
    nextTryAt: 9,
    because: exited,
    message: "gone",
    next: "look",
  },
  connecting: { ...at, status: "connecting" },
  connected: { ...at, status: "connected", peer },
  discovered: { ...at, status: "connected", peer, offer },
  disconnecting: { ...at, status: "disconnecting" },
  dying: { ...at, status: "disconnecting", because: exited },
  unsigned: { ...at, status: "needs_auth", ...unsigned },
  disabled: { ...at, status: "disabled", reason: "user", message: "off" },
  blocked: { ...at, status: "blocked", reason: "excluded", message: "out" },
  untrusted: { ...at, status: "blocked", ...planted },
} as const satisfies Readonly<Record<string, ServerState>>;

const changes = {
  connect: { type: "connect" },
  opened: { type: "opened", peer },
  discovered: { type: "discovered", offer },
  disconnect: { type: "disconnect" },
  "disconnect: exited": { type: "disconnect", because: exited },
  ended: { type: "ended" },
  "ended: exited": { type: "ended", because: exited },
  "ended: unsigned": { type: "ended", because: unsigned },
  "ended: cancelled": { type: "ended", because: cancelled },
  "ended: untrusted": { type: "ended", because: planted },
  postponed: { type: "postponed", because: exited, nextTryAt: 9 },
  "given up": { type: "given_up", because: tooOften },
} as const satisfies Readonly<Record<string, ServerChange>>;

type StateName = keyof typeof states;
type ChangeName = keyof typeof changes;

const lazyNow: ServerState = { ...now, status: "disconnected", reason: "lazy" };
const failedNow: ServerState = { ...now, status: "disconnected", ...exited };
const dyingNow: ServerState = { ...now, status: "disconnecting", because: exited };

/** All that ever happens; every other pair changes nothing. */
const life: { readonly [S in StateName]?: { readonly [C in ChangeName]?: ServerState } } = {
  lazy: { connect: { ...now, status: "connecting" } },
  failed: {
    connect: { ...now, status: "connecting" },
    postponed: { ...states.waiting, ...now },
    "given up": { ...now, status: "disconnected", ...tooOften },
  },
  waiting: {
    connect: { ...now, status: "connecting" },
    disconnect: failedNow,
    "disconnect: exited": failedNow,
    postponed: { ...states.waiting, ...now },
    "given up": { ...now, status: "disconnected", ...tooOften },
  },
  connecting: {
    opened: { ...now, status: "connected", peer },
    disconnect: { ...now, status: "disconnecting" },
    "disconnect: exited": dyingNow,
    ended: lazyNow,
    "ended: exited": failedNow,
    "ended: unsigned": { ...now, status: "needs_auth", ...unsigned },
    "ended: cancelled": lazyNow,
    "ended: untrusted": { ...now, status: "blocked", ...planted },
  },
  connected: {
    discovered: states.discovered,
    disconnect: { ...now, status: "disconnecting" },
    "disconnect: exited": dyingNow,
  },
  discovered: {
    disconnect: { ...now, status: "disconnecting" },
    "disconnect: exited": dyingNow,
  },
  disconnecting: {
    ended: lazyNow,
    "ended: exited": lazyNow,
    "ended: unsigned": lazyNow,
    "ended: cancelled": lazyNow,
    "ended: untrusted": lazyNow,
  },
  dying: {
    ended: failedNow,
    "ended: exited": failedNow,
    "ended: unsigned": failedNow,
    "ended: cancelled": failedNow,
    "ended: untrusted": failedNow,
  },
  unsigned: { disconnect: lazyNow, "disconnect: exited": lazyNow },
  untrusted: { disconnect: lazyNow, "disconnect: exited": lazyNow },
};

const stateNames = Object.keys(states) as StateName[];
const changeNames = Object.keys(changes) as ChangeName[];

describe.each(stateNames)("%s", (stateName) => {
  test.each(changeNames)("%s", (changeName) => {
    const next = life[stateName]?.[changeName];
    const moved = transition(states[stateName], changes[changeName], 2);
    if (next) expect(moved).toEqual(next);
    else expect(moved).toBe(states[stateName]);
  });
});

test("whatever happens, a way to be connected again is never further than three changes", () => {
  const start = seed();
  const change = fc.constantFrom(...Object.values(changes));
  fc.assert(
    fc.property(fc.array(change), (history) => {
      const state = history.reduce<ServerState>((before, each, index) => transition(before, each, index), states.lazy);
      const after = [changes.disconnect, changes.ended, changes.connect].reduce<ServerState>(
        (before, each) => transition(before, each, 99),
        state,
      );
      expect(after, `seed ${start}`).toEqual({ name: "s", since: 99, status: "connecting" });
    }),
    { seed: start },
  );
});

test("a server begins where its admission puts it", () => {
  expect(initialServerState("s", { status: "admitted" }, 1)).toEqual(states.lazy);
  expect(initialServerState("s", { status: "disabled", reason: "user", message: "off", next: "on" }, 1)).toEqual({
    ...states.disabled,
    next: "on",
  });
});

describe("a call into a server that is not connected says what the state says", () => {
  test.each<[StateName, object]>([
    ["lazy", { code: "unreachable", message: '"s" is disconnected' }],
    ["failed", { code: "server_exited", message: "gone", next: "look", evidence: "last words" }],
    ["waiting", { code: "server_exited", message: "gone", next: "look", evidence: "last words" }],
    ["connecting", { code: "unreachable", message: '"s" is connecting' }],
    ["disconnecting", { code: "unreachable", message: '"s" is disconnecting' }],
    ["dying", { code: "server_exited", message: "gone", next: "look", evidence: "last words" }],
    ["unsigned", { code: "auth_required", message: "sign in" }],
    ["disabled", { code: "denied", message: "off" }],
    ["blocked", { code: "denied", message: "out" }],
  ])("%s", (name, error) => {
    expect(notConnectedError(states[name])).toMatchObject({ serverName: "s", ...error });
  });

  test.each(["awaiting_approval", "untrusted_folder"] as const)("%s keeps its own code", (reason) => {
    expect(notConnectedError({ ...at, status: "blocked", reason, message: "no" })).toMatchObject({ code: reason });
  });
});

test("an error becomes plain data", () => {
  const error = new HostError("server_exited", "gone", { next: "look", evidence: "last words", serverName: "s" });
  expect(toFailure(error)).toEqual(exited);
  expect(toFailure(new HostError("protocol", "odd"))).toEqual({ reason: "protocol", message: "odd" });
});

test("a server that waits for approval is blocked, and the user can start it again", () => {
  const because: Failure = { reason: "awaiting_approval", message: "not approved", next: "approve" };
  const blocked = transition(states.connecting, { type: "ended", because }, 2);
  expect(blocked).toEqual({ ...now, status: "blocked", ...because });
  expect(transition(blocked, changes.disconnect, 2)).toEqual(lazyNow);
});

test.each(["user", "not_allowed", "excluded"] as const)(
  "a request to a server with the reason %s is denied",
  (reason) => {
    const state: ServerState = { ...at, status: "blocked", reason: "excluded", message: "no" };
    expect(notConnectedError({ ...state, reason } as ServerState)).toMatchObject({ code: "denied", message: "no" });
  },
);
