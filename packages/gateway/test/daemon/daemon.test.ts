import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { tryLock } from "@fairlead/core/files/atomic/lock";
import { type TemporaryFolder, temporaryFolder, until } from "@fairlead/test-servers";
import { expect, it } from "vitest";
import { hostStatus, stopHost } from "../../src/daemon/control.ts";
import { type DaemonOptions, runDaemon } from "../../src/daemon/daemon.ts";
import type { Gateway } from "../../src/gateway.ts";
import { connectHost } from "../../src/relay/connect-host.ts";
import { findHost } from "../../src/relay/find-host.ts";
import { createRunFolder, type RunFolder, readToken, runFolderOf } from "../../src/relay/run-folder.ts";
import { type RelayClient, speechNumber } from "../../src/relay/speech.ts";
import { handClock } from "../hand-clock.ts";
import { relayClient, standInGateway } from "../relay/scene.ts";

/** Not in this process. */
function kill(): void {
  throw new Error("the host was killed");
}

const greeting = { version: "1", wants: "serve", client: relayClient } as const;

function folderIn({ path }: Pick<TemporaryFolder, "path">, installation = "one"): RunFolder {
  return runFolderOf({ state: path, installation, temporary: path, platform: process.platform });
}

/** A gateway that counts its clients. */
function countingGateway(): Gateway {
  const gateway = standInGateway(async () => ({}));
  const listeners = new Set<() => void>();
  const clients: { readonly name: string; readonly since: number }[] = [];
  function changed(): void {
    for (const listener of listeners) listener();
  }
  return {
    ...gateway,
    async serve(...client) {
      clients.push({ name: client[1].name, since: 0 });
      changed();
      await gateway.serve(...client).finally(() => {
        clients.pop();
        changed();
      });
    },
    listen: () => Promise.reject(new Error("not here")),
    openConsole: () => Promise.reject(new Error("not here")),
    resumeParked: () => Promise.reject(new Error("not here")),
    reload: () => Promise.reject(new Error("not here")),
    drain: () => Promise.reject(new Error("not here")),
    status: () => ({ clients: [...clients], servers: [] }),
    activity: () => clients.length,
    onActivity(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async [Symbol.asyncDispose]() {},
  };
}

interface Running extends AsyncDisposable {
  /** Resolves when the host has ended. */
  readonly ended: Promise<void>;
  readonly notes: readonly string[];
}

/** Resolves when the host is ready. */
async function start(folder: RunFolder, options: Partial<DaemonOptions> = {}): Promise<Running> {
  const ending = new AbortController();
  const notes: string[] = [];
  let ended: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    ended = runDaemon({
      folder,
      version: "1",
      createGateway: async () => countingGateway(),
      workspaceOf: async () => ({ cwd: "/", env: {} }),
      commandWorkspace: () => undefined,
      onReady: resolve,
      note: (text) => notes.push(text),
      signal: ending.signal,
      temporary: folder.all,
      platform: process.platform,
      ...options,
    });
    ended.catch(reject);
  });
  return {
    ended,
    notes,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await ended;
    },
  };
}

/** Tells the host to stop. Resolves when it no longer listens. */
async function stopListening(folder: RunFolder): Promise<void> {
  const reached = await connectHost(folder.socket, { token: readToken(folder) ?? "", version: "1", wants: "stop" });
  expect(reached.kind).toBe("open");
  // The host removes its socket when it no longer listens.
  await until(() => !existsSync(folder.socket));
}

it("keeps socket and token to this user, and removes both at its end", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  {
    await using _host = await start(folder);
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
    expect(statSync(folder.socket).mode & 0o777).toBe(0o600);
    expect(statSync(folder.token).mode & 0o777).toBe(0o600);
    expect(readToken(folder)).toMatch(/^[0-9a-f]{64}$/);
  }
  expect(existsSync(folder.socket)).toBe(false);
  expect(readToken(folder)).toBeUndefined();
});

it("lets no second host of the same installation listen", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  await using _host = await start(folder);
  const token = readToken(folder);
  const second = await start(folder, {
    createGateway: () => Promise.reject(new Error("a second gateway was made")),
  });
  await second.ended;
  expect(readToken(folder)).toBe(token);
  expect(await hostStatus(folder)).toMatchObject({ pid: process.pid, version: "1", clients: [] });
});

it("waits for a host that is ending, and then serves", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  let end = (): void => {};
  const ending = new Promise<void>((resolve) => {
    end = resolve;
  });
  const first = await start(folder, {
    createGateway: async () => ({ ...countingGateway(), [Symbol.asyncDispose]: () => ending }),
  });
  const firstToken = readToken(folder);
  await stopListening(folder);
  const starting = start(folder);
  expect(await Promise.race([starting, new Promise((resolve) => setImmediate(resolve))])).toBeUndefined();
  end();
  await first.ended;
  await using _second = await starting;
  expect(readToken(folder)).not.toBe(firstToken);
  expect(await hostStatus(folder)).toBeDefined();
});

it("does not start, and says what to do, while another host can neither be reached nor ends", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  await using _host = await start(folder);
  rmSync(folder.token);
  const clock = handClock();
  const starting = start(folder, { clock });
  starting.catch(() => {});
  const passing = setInterval(() => clock.pass(1000), 1);
  await expect(starting).rejects.toThrow("to end it, run fairlead daemon restart");
  clearInterval(passing);
});

it("ends with its last client if its files were removed, because no other client can find it", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  await using host = await start(folder);
  const client = await findHost(folder, greeting);
  rmSync(folder.path, { recursive: true });
  client?.socket.destroy();
  await host.ended;
  expect(host.notes).toContain("ends: its files were removed, so no client can find it");
});

it("takes over the socket of a host that has died, but not of one that listens", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  createRunFolder(folder);
  writeFileSync(folder.socket, "");
  {
    await using _host = await start(folder);
    expect(await hostStatus(folder)).toBeDefined();
  }
  // A host whose lock expired: it listens, and says nothing that can be read.
  const other = createServer((socket) =>
    socket
      .on("error", () => {})
      .resume()
      .end("?\n"),
  ).listen(folder.socket);
  const { ended, notes } = await start(folder);
  await ended;
  expect(notes).toEqual(["another host already listens"]);
  await new Promise((resolve) => other.close(resolve));
});

it("ends when it was idle, and not while it has a client", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  const clock = handClock();
  await using host = await start(folder, { clock, idleTime: 1000 });
  clock.pass(999);
  const connection = await findHost(folder, greeting);
  clock.pass(100_000);
  expect(await hostStatus(folder)).toBeDefined();
  connection?.socket.destroy();
  // The host notices the end of the connection in its own time.
  while (((await hostStatus(folder))?.clients.length ?? 0) > 0);
  clock.pass(1000);
  await host.ended;
  expect(host.notes.at(-1)).toBe("ends: idle");
});

it("is stopped by a command", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  await using host = await start(folder);
  let isOver = false;
  void host.ended.then(() => {
    isOver = true;
  });
  expect(await stopHost(folder, { isRunning: () => !isOver, kill })).toBe(process.pid);
  expect(await hostStatus(folder)).toBeUndefined();
  expect(await stopHost(folder, { isRunning: () => false, kill })).toBeUndefined();
});

it("is killed if it does not answer", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  createRunFolder(folder);
  writeFileSync(folder.token, "token");
  const silent = createServer((socket) => void socket.on("error", () => {}).resume());
  await new Promise<void>((resolve) => silent.listen(folder.socket, resolve));
  const killed: number[] = [];
  const stopping = { isRunning: () => killed.length === 0, kill: (pid: number) => void killed.push(pid), waitTime: 20 };
  // Without its lock, the command cannot know which process it is.
  await expect(stopHost(folder, stopping)).rejects.toThrow("no answer");
  const lock = await tryLock(folder.hostLock);
  expect(await stopHost(folder, stopping)).toBe(process.pid);
  expect(killed).toEqual([process.pid]);
  await lock?.release();
  await new Promise((resolve) => silent.close(resolve));
});

it("is killed if it does not end after it was told to stop", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  createRunFolder(folder);
  writeFileSync(folder.token, "token");
  const hanging = createServer((socket) => {
    socket
      .on("error", () => {})
      .resume()
      .write(`${JSON.stringify({ fairlead: speechNumber, pid: process.pid, version: "1" })}\n`);
  });
  await new Promise<void>((resolve) => hanging.listen(folder.socket, resolve));
  const killed: number[] = [];
  const clock = handClock();
  const stopping = {
    clock,
    // Each look at the process takes as long as the host may take to end.
    isRunning() {
      clock.pass(15_000);
      return killed.length === 0;
    },
    kill: (pid: number) => void killed.push(pid),
  };
  // Without its lock, the process may be another program.
  await expect(stopHost(folder, stopping)).rejects.toThrow("still runs");
  expect(killed).toEqual([]);
  const lock = await tryLock(folder.hostLock);
  expect(await stopHost(folder, stopping)).toBe(process.pid);
  expect(killed).toEqual([process.pid]);
  await lock?.release();
  await new Promise((resolve) => hanging.close(resolve));
});

it("is ended also if it holds its lock and cannot be asked, first by SIGTERM", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  createRunFolder(folder);
  const lock = await tryLock(folder.hostLock);
  const clock = handClock();
  const sent: string[] = [];
  const stopping = (last: string) => ({
    clock,
    isRunning() {
      clock.pass(15_000);
      return sent.at(-1) !== last;
    },
    kill: (pid: number, signal: string) => void sent.push(pid === process.pid ? signal : "another process"),
  });
  expect(await stopHost(folder, stopping("SIGTERM"))).toBe(process.pid);
  expect(sent.splice(0)).toEqual(["SIGTERM"]);
  expect(await stopHost(folder, stopping("SIGKILL"))).toBe(process.pid);
  expect(sent).toEqual(["SIGTERM", "SIGKILL"]);
  await lock?.release();
});

it("refuses a wrong token and another speech number", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  await using _host = await start(folder);
  expect(await connectHost(folder.socket, { ...greeting, token: "x" })).toMatchObject({ reason: "token" });
  const hello = { ...greeting, token: readToken(folder) ?? "", fairlead: 99 };
  expect(await connectHost(folder.socket, hello)).toMatchObject({ kind: "refused", reason: "speech" });
});

it("refuses a relay whose first line does not describe its client", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  await using _host = await start(folder);
  const token = readToken(folder) ?? "";
  const changes = [{ name: 1 }, { cwd: undefined }, { env: [] }, { servers: "all" }, { servers: [1] }, { tools: {} }];
  const clients: readonly unknown[] = [
    undefined,
    null,
    "test",
    ...changes.map((each) => ({ ...relayClient, ...each })),
  ];
  for (const client of clients) {
    const hello = { ...greeting, token, client: client as RelayClient };
    expect(await connectHost(folder.socket, hello)).toMatchObject({ kind: "refused", reason: "invalid" });
  }
});

it("is replaced by the host of a newer installation: keeps its clients, takes no others, and ends with the last one", async () => {
  await using temporary = await temporaryFolder();
  const [old, newer] = [folderIn(temporary, "old"), folderIn(temporary, "newer")];
  await using host = await start(old);
  const client = await findHost(old, greeting);
  await using _newer = await start(newer);
  await expect(untilRefused(old)).rejects.toMatchObject({ reason: "retired" });
  expect(await hostStatus(old)).toBeDefined();
  client?.socket.destroy();
  await host.ended;
  expect(host.notes.at(-1)).toBe("ends: a newer host has replaced this host");
});

/** The newer host tells the older one after it is ready itself. */
async function untilRefused(folder: RunFolder): Promise<never> {
  for (;;) (await findHost(folder, greeting))?.socket.destroy();
}

it("removes the folder of an installation whose host has ended", async () => {
  await using temporary = await temporaryFolder();
  const [old, newer] = [folderIn(temporary, "old"), folderIn(temporary, "newer")];
  {
    await using _host = await start(old);
  }
  await using host = await start(newer);
  while (existsSync(old.path)) await new Promise((resolve) => setImmediate(resolve));
  expect(host.notes).toHaveLength(1);
});

it("puts a socket whose path is too long into the folder for temporary files", async () => {
  await using temporary = await temporaryFolder();
  const state = join(temporary.path, "x".repeat(120));
  const folder = runFolderOf({ state, installation: "one", temporary: temporary.path, platform: process.platform });
  expect(basename(folder.socket)).toBe("socket");
  expect(Buffer.byteLength(folder.socket)).toBeLessThan(104);
  await using _host = await start(folder);
  expect(statSync(folder.socketFolder ?? "").mode & 0o777).toBe(0o700);
  expect(await hostStatus(folder)).toBeDefined();
  expect(runFolderOf({ state, installation: "one", temporary: "C:\\T", platform: "win32" }).socket).toMatch(
    /^\\\\\.\\pipe\\fairlead-[0-9a-f]{16}$/,
  );
});

it("removes notes of sent requests that no relay reads any more", async () => {
  await using temporary = await temporaryFolder();
  const folder = folderIn(temporary);
  createRunFolder(folder);
  for (const name of ["old.sent", "new.sent"]) writeFileSync(join(folder.path, name), "");
  utimesSync(join(folder.path, "old.sent"), 0, 0);
  await using _host = await start(folder);
  expect(readdirSync(folder.path)).not.toContain("old.sent");
  expect(readdirSync(folder.path)).toContain("new.sent");
});

const isRoot = process.getuid?.() === 0;

it.each([
  ["that others can change", (folder: string) => chmodSync(folder, 0o777), "other users can change it (mode 777)"],
  ...(isRoot
    ? ([
        [
          "that another user made",
          (folder: string) => chownSync(folder, 1234, 1234),
          "it belongs to another user (id 1234)",
        ],
      ] as const)
    : []),
] as const)("tells nothing to a socket below a folder %s", async (_, change, problem) => {
  await using temporary = await temporaryFolder();
  chmodSync(temporary.path, 0o755);
  const above = join(temporary.path, "above");
  const folder = folderIn({ path: join(above, "home") });
  createRunFolder(folder);
  writeFileSync(folder.token, "planted");
  let greeted = 0;
  const stranger = createServer((socket) => {
    greeted += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => stranger.listen(folder.socket, resolve));
  change(above);
  const refusal = `${above} is not safe to use: ${problem}`;
  await expect(findHost(folder, greeting)).rejects.toThrow(refusal);
  await expect(hostStatus(folder)).rejects.toThrow(refusal);
  await expect(start(folder)).rejects.toThrow(refusal);
  expect(greeted).toBe(0);
  await new Promise((resolve) => stranger.close(resolve));
});

it("tells nothing to a socket in a folder that others may open", async () => {
  await using temporary = await temporaryFolder();
  const state = join(temporary.path, "x".repeat(120));
  const folder = runFolderOf({ state, installation: "one", temporary: temporary.path, platform: process.platform });
  const { socketFolder = "" } = folder;
  // As after a restart of the computer: the token is still there, the folder for temporary files was emptied.
  mkdirSync(folder.path, { recursive: true });
  writeFileSync(folder.token, "secret");
  mkdirSync(socketFolder);
  chmodSync(socketFolder, 0o755);
  let greeted = 0;
  const stranger = createServer((socket) => {
    greeted += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => stranger.listen(folder.socket, resolve));
  const refusal = `${socketFolder} is not safe to use: other users can access it`;
  await expect(findHost(folder, greeting)).rejects.toThrow(refusal);
  await expect(hostStatus(folder)).rejects.toThrow(refusal);
  expect(() => createRunFolder(folder)).toThrow(refusal);
  expect(greeted).toBe(0);
  await new Promise((resolve) => stranger.close(resolve));
});
