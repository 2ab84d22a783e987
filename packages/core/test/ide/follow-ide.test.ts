import { rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import {
  type CompanionFaults,
  type IdeCompanion,
  ideCompanion,
  redirectTo,
  status,
  temporaryFolder,
  until,
} from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createIdeTrust, type IdeTrust } from "../../src/ide/ide-trust.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";

interface Scene extends AsyncDisposable {
  readonly ide: IdeTrust;
  readonly clock: ManualClock;
  readonly root: string;
  /** What the IDE reports now. */
  readonly isTrusted: () => Promise<boolean | undefined>;
  /** Resolves with the next change, or with one that nothing has waited for. */
  readonly changed: () => Promise<void>;
  readonly changes: () => number;
}

/** An IDE that is asked in the window of the companion, in a folder that stands for the workspace. */
function follow(companion: Pick<IdeCompanion, "variables">, root = "/"): Scene {
  const clock = manualClock();
  const environment = { env: { TMPDIR: join(root, "none"), ...companion.variables(root) }, platform: process.platform };
  const ide = createIdeTrust({ environment, clock });
  const changes = { made: 0, seen: 0, wake: (): void => {} };
  ide.onChange(() => {
    changes.made += 1;
    changes.wake();
  });
  return {
    ide,
    clock,
    root,
    isTrusted: async () => (await ide.report(root))?.isTrusted,
    async changed() {
      while (changes.made === changes.seen)
        await new Promise<void>((resolve) => {
          changes.wake = resolve;
        });
      changes.seen += 1;
    },
    changes: () => changes.made,
    [Symbol.asyncDispose]: () => ide.close(),
  };
}

test("every report of the IDE counts as soon as it arrives, also one that says nothing about trust", async () => {
  await using companion = await ideCompanion();
  await using scene = follow(companion);
  expect(await scene.isTrusted()).toBe(true);
  for (const next of [false, true, undefined, false]) {
    companion.say(next);
    await scene.changed();
    expect(await scene.isTrusted()).toBe(next);
  }
  expect(companion.seen.map(({ method }) => method)).toEqual(["POST", "POST", "GET"]);
});

test("a report that repeats the last one changes nothing", async () => {
  await using companion = await ideCompanion();
  await using scene = follow(companion);
  expect(await scene.isTrusted()).toBe(true);
  companion.say(true);
  companion.sendContext({ workspaceState: { isTrusted: true, openFiles: [{ path: "/a" }] } });
  companion.say(false);
  await scene.changed();
  expect(scene.changes()).toBe(1);
});

test("with the end of the stream the IDE says nothing any more, until its companion is found again", async () => {
  await using companion = await ideCompanion();
  await using scene = follow(companion);
  expect(await scene.isTrusted()).toBe(true);
  companion.endStreams();
  await scene.changed();
  expect(await scene.isTrusted()).toBeUndefined();
  await scene.clock.pass(1_999);
  expect(companion.seen.filter(({ method }) => method === "GET")).toHaveLength(1);
  companion.say(false);
  await scene.clock.pass(1);
  await scene.changed();
  expect(await scene.isTrusted()).toBe(false);
});

test("a companion that keeps closing its stream is looked for less and less often", async () => {
  await using companion = await ideCompanion();
  await using scene = follow(companion);
  expect(await scene.isTrusted()).toBe(true);
  for (const pause of [2, 4, 8, 16, 32, 60, 60]) {
    companion.endStreams();
    await scene.changed();
    await scene.clock.pass(pause * 1000 - 1);
    expect(await scene.isTrusted()).toBeUndefined();
    await scene.clock.pass(1);
    await scene.changed();
    expect(await scene.isTrusted()).toBe(true);
  }
});

test("a window that is loaded anew has another port, which its port file tells", async () => {
  await using folder = await temporaryFolder();
  const root = await folder.write("work/file", "").then(() => join(folder.path, "work"));
  const before = await ideCompanion();
  const clock = manualClock();
  const environment = { env: { TMPDIR: join(folder.path, "tmp") }, platform: process.platform };
  const ide = createIdeTrust({ environment, clock });
  const file = await before.writePortFile(folder, { process: process.ppid, workspace: root });
  expect(await ide.report(root)).toEqual({ isTrusted: true, port: before.port });
  const isLost = new Promise<void>((resolve) => ide.onChange(resolve));
  await rm(file);
  await before[Symbol.asyncDispose]();
  await isLost;
  await clock.pass(2_000);
  expect(await ide.report(root)).toBeUndefined();
  // The first attempt finds nothing, and the next one is planned.
  while (clock.pending() === 0) await new Promise(setImmediate);
  await using after = await ideCompanion({ isTrusted: false });
  await after.writePortFile(folder, { process: process.ppid, workspace: root });
  const isBack = new Promise<void>((resolve) => ide.onChange(resolve));
  await clock.pass(4_000);
  await isBack;
  expect(await ide.report(root)).toEqual({ isTrusted: false, port: after.port });
  await ide.close();
});

test("stop ends the connection without a change, and the next question opens another", async () => {
  await using companion = await ideCompanion();
  await using scene = follow(companion);
  expect(await scene.isTrusted()).toBe(true);
  await scene.ide.stop();
  companion.say(false);
  expect(await scene.isTrusted()).toBe(false);
  expect(scene.changes()).toBe(0);
  await scene.ide.close();
  expect(await scene.isTrusted()).toBeUndefined();
});

test("a folder of another window gets no answer from this one", async () => {
  await using folder = await temporaryFolder();
  await using companion = await ideCompanion();
  await using scene = follow(companion, folder.path);
  expect(await scene.isTrusted()).toBe(true);
  expect(await scene.ide.report("/elsewhere")).toBeUndefined();
  expect(await scene.ide.report(join(folder.path, "inside"))).toMatchObject({ isTrusted: true });
});

describe("a companion that is slow or hostile", () => {
  const silent = (): void => {};
  const open = (text: string) => (_: unknown, response: ServerResponse) =>
    void response.writeHead(200, { "content-type": "text/event-stream" }).write(text);
  const large = `data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"isTrusted":true,"x":"${"x".repeat(1_100_000)}"}}}\n\n`;

  test.each<[string, CompanionFaults]>([
    ["never answers initialize", { initialize: silent }],
    ["never accepts notifications", { initialized: silent }],
    ["refuses the session", { initialized: status(400) }],
    ["never opens the stream", { stream: silent }],
    ["says nothing on the stream", { stream: open(": nothing\n\n") }],
    ["never ends its report", { stream: open('data: {"jsonrpc":"2.0"') }],
  ])("%s: the question ends after a second", async (_, faults) => {
    await using companion = await ideCompanion({}, faults);
    await using scene = follow(companion);
    const answer = scene.isTrusted();
    let isAnswered = false;
    void answer.then(() => {
      isAnswered = true;
    });
    await scene.clock.pass(999);
    expect(isAnswered).toBe(false);
    await scene.clock.pass(1);
    expect(await answer).toBeUndefined();
    // Later questions wait no longer.
    expect(await scene.isTrusted()).toBeUndefined();
  });

  test.each<[string, CompanionFaults]>([
    ["refuses initialize", { initialize: status(500) }],
    ["refuses the stream", { stream: status(405) }],
    ["has a stream of another type", { stream: (_, response) => void response.end("{}") }],
    ["answers with something else", { initialize: (_, response) => void response.end("<html>") }],
    ["sends a report that is too large", { stream: open(large) }],
    ["sends headers that are too large", { initialize: status(200, { "x-large": "x".repeat(20_000) }) }],
    ["closes the connection", { initialize: (_, response) => void response.destroy() }],
  ])("%s: it says nothing", async (_, faults) => {
    await using companion = await ideCompanion({}, faults);
    await using scene = follow(companion);
    // No time passes: the connection itself has failed.
    expect(await scene.isTrusted()).toBeUndefined();
  });

  test("redirects to another address: nothing is sent there", async () => {
    await using other = await ideCompanion();
    const elsewhere = redirectTo(`http://127.0.0.1:${other.port}/mcp`);
    for (const faults of [{ initialize: elsewhere }, { stream: elsewhere }]) {
      await using companion = await ideCompanion({}, faults);
      await using scene = follow(companion);
      expect(await scene.isTrusted()).toBeUndefined();
    }
    expect(other.seen).toEqual([]);
  });

  test("a report that comes after the second counts from then on", async () => {
    const opened: ServerResponse[] = [];
    await using companion = await ideCompanion(
      {},
      {
        stream(_, response) {
          opened.push(response);
          response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
        },
      },
    );
    await using scene = follow(companion);
    const answer = scene.isTrusted();
    await scene.clock.pass(1_000);
    expect(await answer).toBeUndefined();
    while (opened.length === 0) await new Promise(setImmediate);
    opened[0]?.write(
      'data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"isTrusted":false}}}\n\n',
    );
    await scene.changed();
    expect(await scene.isTrusted()).toBe(false);
  });

  test("changes its mind again and again: it is disconnected after twenty changes", async () => {
    await using companion = await ideCompanion();
    await using scene = follow(companion);
    expect(await scene.isTrusted()).toBe(true);
    for (let change = 1; change <= 21; change += 1) {
      companion.say(change % 2 === 0);
      await scene.changed();
    }
    expect(await scene.isTrusted()).toBeUndefined();
    await until(() => companion.streams() === 0);
  });

  test("never answers the end of the session: closing does not wait for it", async () => {
    await using companion = await ideCompanion({}, { end: silent });
    await using scene = follow(companion);
    expect(await scene.isTrusted()).toBe(true);
    await scene.ide.close();
  });

  test("asks the host something: it gets an error", async () => {
    await using companion = await ideCompanion();
    await using scene = follow(companion);
    expect(await scene.isTrusted()).toBe(true);
    companion.sendRaw('data: {"jsonrpc":"2.0","id":1,"method":"roots/list"}\n\n');
    while (companion.seen.length < 4) await new Promise(setImmediate);
    expect(JSON.parse(companion.seen[3]?.body ?? "")).toMatchObject({ id: 1, error: { code: -32601 } });
  });
});
