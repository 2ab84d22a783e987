import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { errorCodes } from "../../src/errors.ts";
import type { Host } from "../../src/index.ts";
import { FailedStarts, isFailedStart } from "../../src/server/failed-starts.ts";
import type { ServerDefinition } from "../../src/settings/define/definition.ts";
import { manualClock } from "../support/manual-clock.ts";
import { listsNothing, writtenServer } from "./written-server.ts";

const entry = { name: "s", fingerprint: "f" } as ServerDefinition;
const gone = '"s" is gone';

interface Scene extends AsyncDisposable {
  /** A run of its own, at this time. */
  readonly run: (at: number) => FailedStarts;
  /** A run in which the server fails. */
  readonly fail: (at: number) => FailedStarts;
}

async function scene(): Promise<Scene> {
  const folder = await temporaryFolder();
  const keyOf = async ({ fingerprint }: ServerDefinition): Promise<string> => fingerprint;
  const run: Scene["run"] = (at) => new FailedStarts(folder.path, keyOf, () => at);
  return {
    run,
    fail(at) {
      const starts = run(at);
      starts.failed(entry, gone);
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
    const [waiting] = await here.fail(at).waiting([entry]);
    pauses.push(((waiting?.nextTryAt ?? 0) - at) / 1000);
    at = waiting?.nextTryAt ?? 0;
    expect(await here.run(at).waiting([entry])).toEqual([]);
  }
  expect(pauses).toEqual([30, 60, 120, 240, 300, 300]);
});

test("a success ends it", async () => {
  await using here = await scene();
  await here.fail(start).flush();
  const next = here.run(start + 1);
  expect(await next.waiting([entry])).toHaveLength(1);
  next.worked(entry);
  expect(await next.waiting([entry])).toEqual([]);
  expect(await here.run(start + 1).waiting([entry])).toEqual([]);
});

test.each([
  ["another entry", start + 1, { ...entry, fingerprint: "g" }],
  ["a clock that was set back", start - 1, entry],
])("nothing is skipped for %s", async (_why, at, definition) => {
  await using here = await scene();
  await here.fail(start).flush();
  expect(await here.run(at).waiting([definition])).toEqual([]);
});

test("what failed is told with its server, its reason and its times, until the pause is over", async () => {
  await using here = await scene();
  await here.fail(start).flush();
  const expected = { server: "s", failures: 1, failedAt: start, nextTryAt: start + 30_000, message: '"s" is gone' };
  expect(await here.run(start).waiting([{ ...entry, name: "t", fingerprint: "g" }, entry])).toEqual([expected]);
  expect(await here.run(start + 29_999).waiting([entry])).toEqual([expected]);
  expect(await here.run(start + 30_000).waiting([entry])).toEqual([]);
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
  const starts = new FailedStarts(
    folder.path,
    async () => "f",
    () => start,
  );
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
  const starts = new FailedStarts(
    folder.path,
    async () => "f",
    () => now,
  );
  starts.failed(entry, gone);
  await starts.flush();
  expect(JSON.parse(await folder.read("failed-starts.json"))).toEqual({
    version: 1,
    servers: { recent: old(now - hour + 1), f: { failures: 2, failedAt: now, message: '"s" is gone' } },
  });
});

test("these errors of a start are recorded, and no others: a server that asks for a sign-in answers", () => {
  expect(errorCodes.filter(isFailedStart).toSorted()).toEqual([
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

const failuresOf = async (host: Host): Promise<unknown> =>
  (await host.failedStarts()).map(({ server, failures }) => [server, failures]);

test("a host forgets the failures of a server that works; its end is no failed start, but its next failed start is", async () => {
  await using at = await writtenServer();
  await using host = await at.run({ now: () => start });
  await host.start();
  await host.start();
  expect(await failuresOf(host)).toEqual([["s", 2]]);
  await at.write('serve({ "tools/call": () => process.exit(3) });');
  await host.start();
  expect(await failuresOf(host)).toEqual([]);
  const down = new Promise<void>((resolve) => {
    host.on("state", ({ state }) => {
      if (state.status === "disconnected") resolve();
    });
  });
  await expect(host.call("s", "echo", { text: "x" })).rejects.toMatchObject({ code: "lost" });
  await down;
  expect(await failuresOf(host)).toEqual([]);
  await at.write("process.exit(4);");
  await host.start();
  expect(await failuresOf(host)).toEqual([["s", 1]]);
});

test("a server that connects and lists nothing in time has failed once more", async () => {
  await using at = await writtenServer();
  const clock = manualClock();
  await using host = await at.run({ clock, now: () => start });
  await host.start();
  await at.write(`serve({ ${listsNothing} }, say);`);
  const connected = new Promise<void>((resolve) => {
    host.on("state", ({ state }) => {
      if (state.status === "connected") resolve();
    });
  });
  const starting = host.start();
  await connected;
  expect(await failuresOf(host)).toEqual([["s", 1]]);
  await clock.pass(3_600_000);
  await starting;
  expect(await failuresOf(host)).toEqual([["s", 2]]);
});
