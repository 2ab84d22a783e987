import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { errorCodes } from "../../../src/errors.ts";
import type { ServerState } from "../../../src/events.ts";
import { createFailedStarts, type FailedStarts } from "../../../src/host/catalogs/failed-starts.ts";
import type { ServerDefinition } from "../../../src/settings/define/definition.ts";

const entry = { name: "s", fingerprint: "f" } as ServerDefinition;
const offer = { tools: 1, prompts: 0, resources: 0, resourceTemplates: 0 };
const peer = { era: "legacy", protocolVersion: "2025-11-25", serverInfo: { name: "s", version: "1" } } as const;
const connecting: ServerState = { name: "s", since: 0, status: "connecting" };
const connected: ServerState = { name: "s", since: 0, status: "connected", peer, offer };

function failed(reason: "unreachable" | "auth_failed"): ServerState {
  return { name: "s", since: 0, status: "disconnected", reason, message: '"s" is gone' };
}

interface Scene extends AsyncDisposable {
  /** A run of its own, at this time, with these states. */
  readonly run: (at: number, ...states: readonly ServerState[]) => FailedStarts;
}

async function scene(): Promise<Scene> {
  const folder = await temporaryFolder();
  return {
    run(at, ...states) {
      const keyOf = async ({ fingerprint }: ServerDefinition): Promise<string> => fingerprint;
      const starts = createFailedStarts({ state: folder.path, keyOf, now: () => at });
      for (const state of states) starts.onState(entry, state);
      return starts;
    },
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

const start = 1_000_000;

test("the pause doubles with each failure, across runs, up to five minutes", async () => {
  await using here = await scene();
  const pauses: number[] = [];
  for (let at = start, tries = 0; tries < 6; tries += 1) {
    const [waiting] = await here.run(at, connecting, failed("unreachable")).waiting([entry]);
    pauses.push(((waiting?.nextTryAt ?? 0) - at) / 1000);
    at = waiting?.nextTryAt ?? 0;
    expect(await here.run(at).waiting([entry])).toEqual([]);
  }
  expect(pauses).toEqual([30, 60, 120, 240, 300, 300]);
});

test("a success ends it, and the end of a server that has worked is no failed start", async () => {
  await using here = await scene();
  await here.run(start, connecting, failed("unreachable")).flush();
  expect(await here.run(start + 1).waiting([entry])).toHaveLength(1);
  expect(await here.run(start + 1, connecting, connected, failed("unreachable")).waiting([entry])).toEqual([]);
});

test.each([
  ["another entry", start + 1, { ...entry, fingerprint: "g" }],
  ["a clock that was set back", start - 1, entry],
])("nothing is skipped for %s", async (_why, at, definition) => {
  await using here = await scene();
  await here.run(start, connecting, failed("unreachable")).flush();
  expect(await here.run(at).waiting([definition])).toEqual([]);
});

test("a failed sign-in is tried again: the server answers", async () => {
  await using here = await scene();
  expect(await here.run(start, connecting, failed("auth_failed")).waiting([entry])).toEqual([]);
});

test("what failed is told with its server, its reason and its times, until the pause is over", async () => {
  await using here = await scene();
  await here.run(start, connecting, failed("unreachable")).flush();
  const expected = { server: "s", failures: 1, failedAt: start, nextTryAt: start + 30_000, message: '"s" is gone' };
  expect(await here.run(start).waiting([{ ...entry, name: "t", fingerprint: "g" }, entry])).toEqual([expected]);
  expect(await here.run(start + 29_999).waiting([entry])).toEqual([expected]);
  expect(await here.run(start + 30_000).waiting([entry])).toEqual([]);
});

test("states of no entry count for nothing, and a connection without an offer is no success", async () => {
  await using here = await scene();
  const starts = here.run(start);
  for (const state of [connecting, failed("unreachable")]) starts.onState(undefined, state);
  expect(await starts.waiting([entry])).toEqual([]);
  await here.run(start, connecting, failed("unreachable")).flush();
  const { offer: _, ...silent } = connected as Extract<ServerState, { readonly status: "connected" }>;
  expect(await here.run(start + 1, connecting, silent).waiting([entry])).toHaveLength(1);
});

test.each([
  "{",
  "[]",
  '{"version":2,"servers":{}}',
  '{"version":1,"servers":[]}',
  '{"version":1,"servers":{"f":7}}',
  '{"version":1,"servers":{"f":{"failures":0,"failedAt":1000000,"message":"m"}}}',
  '{"version":1,"servers":{"f":{"failures":"1","failedAt":1000000,"message":"m"}}}',
  '{"version":1,"servers":{"f":{"failures":1,"failedAt":"now","message":"m"}}}',
  '{"version":1,"servers":{"f":{"failures":1,"failedAt":1000000}}}',
])("the file %s makes no server wait", async (text) => {
  await using folder = await temporaryFolder();
  await folder.write("failed-starts.json", text);
  const starts = createFailedStarts({ state: folder.path, keyOf: async () => "f", now: () => start });
  expect(await starts.waiting([entry])).toEqual([]);
});

test("failures of other servers are kept for an hour", async () => {
  await using folder = await temporaryFolder();
  const old = (failedAt: number) => ({ failures: 1, failedAt, message: "m" });
  const hour = 3_600_000;
  const now = 2 * hour;
  await folder.write("failed-starts.json", {
    version: 1,
    servers: { recent: old(now - hour + 1), over: old(now - hour), f: old(now - 1000) },
  });
  const starts = createFailedStarts({ state: folder.path, keyOf: async () => "f", now: () => now });
  for (const state of [connecting, failed("unreachable")]) starts.onState(entry, state);
  await starts.flush();
  expect(JSON.parse(await folder.read("failed-starts.json"))).toEqual({
    version: 1,
    servers: { recent: old(now - hour + 1), f: { failures: 2, failedAt: now, message: '"s" is gone' } },
  });
});

test("these errors of a start are recorded, and no others", async () => {
  const recorded: string[] = [];
  for (const reason of errorCodes) {
    await using here = await scene();
    const state = { ...failed("unreachable"), reason } as ServerState;
    if ((await here.run(start, connecting, state).waiting([entry])).length > 0) recorded.push(reason);
  }
  expect(recorded.toSorted()).toEqual([
    "command_not_found",
    "connect_timeout",
    "http_status",
    "no_capabilities",
    "not_mcp",
    "protocol",
    "proxy",
    "server_exited",
    "tls",
    "unreachable",
  ]);
});

test("a server that has worked and then fails at its next start is recorded", async () => {
  await using here = await scene();
  const again = here.run(start, connecting, connected, connecting, failed("unreachable"));
  expect(await again.waiting([entry])).toEqual([
    { server: "s", failures: 1, failedAt: start, message: '"s" is gone', nextTryAt: start + 30_000 },
  ]);
});
