import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { createOpenedHost } from "@fairlead/core/host";
import { scaled, seed, temporaryFolder, until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { Consent } from "../../src/consent/consent.ts";
import { hostStatus } from "../../src/daemon/control.ts";
import { runDaemon } from "../../src/daemon/daemon.ts";
import { createGateway, type Gateway } from "../../src/gateway.ts";
import { findHost } from "../../src/relay/find-host.ts";
import { type RunFolder, readToken, runFolderOf } from "../../src/relay/run-folder.ts";
import { speechNumber } from "../../src/relay/speech.ts";
import { type HandClock, handClock } from "../hand-clock.ts";
import { initialize, relayClient } from "../relay/scene.ts";
import { randomFrom } from "../support/random.ts";
import { heapBytes, openDescriptors } from "../support/used-resources.ts";

interface BackgroundHost extends AsyncDisposable {
  readonly folder: RunFolder;
  readonly clock: HandClock;
  readonly notes: readonly string[];
  /** Resolves when the host has ended. */
  readonly ended: Promise<void>;
  readonly gateway: () => Gateway;
  /** The first line of a relay. */
  hello(wants?: "serve" | "status"): string;
}

const idleTime = 600_000;

/** A background host with a real gateway, whose time a test passes by hand. */
async function startHost(): Promise<BackgroundHost> {
  const temporary = await temporaryFolder();
  const { path } = temporary;
  const folder = runFolderOf({ state: path, installation: "one", temporary: path, platform: process.platform });
  const clock = handClock();
  const notes: string[] = [];
  const ending = new AbortController();
  const none = join(path, "none.json");
  const env = {
    FAIRLEAD_HOME: path,
    FAIRLEAD_SECRET_STORE: "file",
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: none,
    GEMINI_CLI_SYSTEM_DEFAULTS_PATH: none,
  };
  const environment = { env, home: path, cwd: path, platform: process.platform };
  const gateway = createGateway({
    createHost: (_, hooks) => createOpenedHost({ ...hooks, environment, lazy: true }),
    consent: new Consent({ stateFolder: path }),
    stateFolder: path,
    version: "1",
  });
  let ended: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    ended = runDaemon({
      folder,
      version: "1",
      createGateway: async () => gateway,
      workspaceOf: async () => ({ cwd: path, env: {} }),
      commandWorkspace: () => undefined,
      onReady: resolve,
      note: (text) => notes.push(text),
      signal: ending.signal,
      temporary: path,
      platform: process.platform,
      idleTime,
      clock,
    });
    ended.catch(reject);
  });
  const token = readToken(folder) ?? "";
  return {
    folder,
    clock,
    notes,
    ended,
    gateway: () => gateway,
    hello: (wants = "serve") =>
      `${JSON.stringify({ fairlead: speechNumber, token, version: "1", wants, client: relayClient })}\n`,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await ended;
      await temporary[Symbol.asyncDispose]();
    },
  };
}

function openSocket({ socket: path }: RunFolder): Socket {
  return connect(path)
    .on("error", () => {})
    .resume();
}

const greeting = { version: "1", wants: "serve", client: relayClient } as const;

test(
  "clients that leave before, during or right after the greeting leave nothing behind, and the host ends when it is idle",
  async () => {
    await using host = await startHost();
    const { folder, clock } = host;
    const start = seed();
    process.stderr.write(`seed ${start}\n`);
    const random = randomFrom(start);
    const files = readdirSync(folder.path).sort();
    (await findHost(folder, greeting))?.socket.destroy();
    await until(() => host.gateway().activity() === 0);
    const descriptors = openDescriptors();

    /** Connects, writes a beginning of what a client writes, and leaves. */
    async function visit(): Promise<void> {
      const text = `${host.hello(random() < 0.1 ? "status" : "serve")}${JSON.stringify(initialize)}\n`;
      const written = [0, random() * text.length, text.length][Math.trunc(random() * 3)] ?? 0;
      const leavesAt = Math.trunc(random() * 4);
      const socket = openSocket(folder);
      const closed = once(socket, "close");
      const leave = (): void => void (random() < 0.2 ? socket.end() : socket.destroy());
      if (leavesAt === 0) leave();
      else
        socket.write(text.slice(0, written), () => {
          if (leavesAt === 1) leave();
          else if (leavesAt === 2) setImmediate(leave);
          else if (written === text.length) socket.once("data", leave);
          else leave();
        });
      await closed;
    }

    async function visits(count: number): Promise<void> {
      let left = count;
      const visitor = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await visit();
        }
      };
      await Promise.all(Array.from({ length: 16 }, visitor));
      await until(() => host.gateway().activity() === 0);
      await until(() => openDescriptors() <= descriptors);
    }

    // The first clients load and compile what all clients share.
    await visits(600);
    const heap = heapBytes();
    const count = scaled(20_000, 2000);
    await visits(count);
    expect(await hostStatus(folder)).toMatchObject({ clients: [] });
    expect(readdirSync(folder.path).sort()).toEqual(files);
    expect((heapBytes() - heap) / count, "bytes that each client leaves behind").toBeLessThan(512);
    clock.pass(idleTime - 1);
    expect(host.notes.at(-1)).toMatch(/^listening/);
    clock.pass(1);
    await host.ended;
    expect(host.notes.at(-1)).toBe("ends: idle");
    expect(existsSync(folder.socket)).toBe(false);
  },
  scaled(600_000, 60_000),
);

test("a connection without a complete greeting, or that is not closed after its answer, ends after ten seconds", async () => {
  await using host = await startHost();
  const client = await findHost(host.folder, greeting);
  const [silent, partial, asked] = [openSocket(host.folder), openSocket(host.folder), openSocket(host.folder)];
  partial.write(host.hello().slice(0, 20));
  asked.write(`${host.hello("status")}and more`);
  asked.allowHalfOpen = true;
  await once(asked, "end");
  const closed = [silent, partial].map((socket) => once(socket, "close"));
  host.clock.pass(10_000);
  await Promise.all(closed);
  asked.destroy();
  expect(host.gateway().activity()).toBe(1);
  expect(client?.socket.destroyed).toBe(false);
  client?.socket.destroy();
});

test("very many connections without a greeting lock no client out", async () => {
  await using host = await startHost();
  const idle = Array.from({ length: 300 }, () => openSocket(host.folder));
  await Promise.all(idle.map((socket) => once(socket, "connect")));
  await until(() => idle.filter(({ destroyed }) => destroyed).length >= 44);
  const client = await findHost(host.folder, greeting);
  expect(client).toBeDefined();
  // The connection of the client has ended the next one.
  await until(() => idle.filter(({ destroyed }) => destroyed).length === 45);
  for (const socket of [...idle, client?.socket]) socket?.destroy();
});

test("a host that serves 256 clients refuses the next one, until one of them leaves", async () => {
  await using host = await startHost();
  const clients = await Promise.all(Array.from({ length: 256 }, () => findHost(host.folder, greeting)));
  await expect(findHost(host.folder, greeting)).rejects.toMatchObject({ reason: "busy" });
  expect(await hostStatus(host.folder)).toBeDefined();
  clients[0]?.socket.destroy();
  await until(() => host.gateway().activity() === 255);
  clients[0] = await findHost(host.folder, greeting);
  expect(clients[0]).toBeDefined();
  for (const client of clients) client?.socket.destroy();
});
