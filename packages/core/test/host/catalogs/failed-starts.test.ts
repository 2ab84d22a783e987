import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
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
