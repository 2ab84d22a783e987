import { existsSync, rmSync } from "node:fs";
import { canMount, type SmallDisk, smallDisk, until } from "@fairlead/test-servers";
import { describe, expect, it } from "vitest";
import { hostStatus, stopHost } from "../../src/daemon/control.ts";
import { type DaemonOptions, runDaemon } from "../../src/daemon/daemon.ts";
import type { Gateway } from "../../src/gateway.ts";
import { findHost } from "../../src/relay/find-host.ts";
import { type RunFolder, runFolderOf } from "../../src/relay/run-folder.ts";
import { callOf, initialize, initialized, relayClient, standInGateway } from "../relay/scene.ts";

/** `onWatched` runs when the host listens and has no token yet. */
function gatewayWith(onWatched: () => void = () => {}): Gateway {
  return {
    ...standInGateway(async (_method, _params, { send }) => {
      await send();
      return {};
    }),
    listen: () => Promise.reject(new Error("not here")),
    openConsole: () => Promise.reject(new Error("not here")),
    resumeParked: () => Promise.reject(new Error("not here")),
    reload: () => Promise.reject(new Error("not here")),
    drain: () => Promise.reject(new Error("not here")),
    activity: () => 1,
    onActivity() {
      onWatched();
      return () => {};
    },
    async [Symbol.asyncDispose]() {},
  };
}

function folderOn({ path }: SmallDisk): RunFolder {
  return runFolderOf({ state: path, installation: "one", temporary: path, platform: process.platform });
}

/** Returns undefined if the host works, and otherwise why it does not. `during` runs while the host works. */
async function failureOf(
  folder: RunFolder,
  options: Partial<DaemonOptions> = {},
  during: (notes: readonly string[]) => Promise<void> = async () => {},
): Promise<unknown> {
  const ending = new AbortController();
  const notes: string[] = [];
  let work: Promise<void> = Promise.resolve();
  const failure = await runDaemon({
    folder,
    version: "1",
    createGateway: async () => gatewayWith(),
    workspaceOf: async () => ({ cwd: "/", env: {} }),
    commandWorkspace: () => undefined,
    onReady() {
      work = during(notes).finally(() => ending.abort());
    },
    note: (text) => notes.push(text),
    signal: ending.signal,
    temporary: folder.all,
    platform: process.platform,
    ...options,
  }).then(
    () => undefined,
    (error: unknown) => error,
  );
  await work;
  return failure;
}

const stopping = {
  isRunning: () => false,
  kill() {
    throw new Error("a host was left");
  },
};

/** Resolves when the lock is free of a host whose disk was read-only when it ended. The process of the test goes on. */
function isUnlocked({ hostLock }: RunFolder): Promise<void> {
  return until(() => !existsSync(`${hostLock}.lock-owner`));
}

/** Nothing is left of a host that failed, and a new one works. */
async function expectNextStart(folder: RunFolder): Promise<void> {
  expect(await stopHost(folder, stopping)).toBeUndefined();
  expect(await failureOf(folder, {}, async () => expect(await hostStatus(folder)).toBeDefined())).toBeUndefined();
}

describe.runIf(canMount())("a host whose disk", () => {
  it.each(["files", "blocks"] as const)(
    "is full at any step of its start ends, and the next start works: no more %s",
    async (what) => {
      await using disk = await smallDisk();
      const folder = folderOn(disk);
      const allow = (more: number): Promise<void> =>
        what === "files" ? disk.allowFiles(more) : disk.allowBlocks(more);
      const failures: unknown[] = [];
      for (let more = 0, failure: unknown = ""; failure !== undefined; more += 1) {
        rmSync(folder.all, { recursive: true, force: true });
        await allow(more);
        failure = await failureOf(folder);
        if (failure !== undefined) failures.push(failure);
        await allow(100);
        await expectNextStart(folder);
      }
      for (const failure of failures) expect(failure).toMatchObject({ code: "ENOSPC" });
      // The folders, the record of the lock, the lock, the socket and the token; the token is the last one.
      expect(failures.length).toBeGreaterThan(what === "files" ? 4 : 1);
    },
  );

  it.each(["it starts", "it has its lock"])("is read-only when %s ends, and the next start works", async (when) => {
    await using disk = await smallDisk();
    const folder = folderOn(disk);
    await failureOf(folder);
    if (when === "it starts") await disk.setReadOnly(true);
    const failure = await failureOf(folder, {
      async createGateway() {
        await disk.setReadOnly(true);
        return gatewayWith();
      },
    });
    expect(failure).toMatchObject({
      code: when === "it starts" ? "EROFS" : expect.stringMatching(/^(?:EROFS|EACCES)$/),
    });
    await disk.setReadOnly(false);
    await isUnlocked(folder);
    await expectNextStart(folder);
  });

  it("loses its files when it listens ends", async () => {
    await using disk = await smallDisk();
    const folder = folderOn(disk);
    const createGateway = async (): Promise<Gateway> => gatewayWith(() => rmSync(folder.path, { recursive: true }));
    expect(await failureOf(folder, { createGateway })).toMatchObject({ code: "ENOENT" });
    await expectNextStart(folder);
  });

  it("turns read-only while a client leaves goes on, and ends when it is told", async () => {
    await using disk = await smallDisk();
    const folder = folderOn(disk);
    const failure = await failureOf(folder, {}, async (notes) => {
      const connection = await findHost(folder, { version: "1", wants: "serve", client: relayClient });
      const { socket, welcome } = connection ?? {};
      for (const message of [initialize, initialized, callOf(1)]) socket?.write(`${JSON.stringify(message)}\n`);
      await until(() => existsSync(welcome?.sentFile ?? ""));
      await disk.setReadOnly(true);
      await new Promise((resolve) => socket?.once("close", resolve).resume().end());
      expect(await hostStatus(folder)).toMatchObject({ pid: process.pid });
      expect(notes).toHaveLength(1);
    });
    expect(failure).toBeUndefined();
    expect(await hostStatus(folder)).toBeUndefined();
    await disk.setReadOnly(false);
    await isUnlocked(folder);
  });
});
