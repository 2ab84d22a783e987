import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { canMount, scaled, seed, smallDisk, until } from "@fairlead/test-servers";
import { expect, it } from "vitest";
import { gatewayMachine } from "../../support/gateway-client.ts";
import { processesOf } from "../../support/left-over.ts";
import type { Machine } from "../../support/machine.ts";
import { program, runPiped, startPiped } from "../../support/process.ts";

const greeting = `${JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
})}\n`;
const isGreeted = { code: 0, stdout: expect.stringContaining('"protocolVersion"') };

/** The commands work in every state that a failed host can leave, and nothing of it is left after them. */
async function expectStopped(here: Machine, client?: number): Promise<void> {
  for (const words of [["status"], ["logs"], ["stop"]])
    expect(await here.runWith({ env: here.env }, "daemon", ...words)).toMatchObject({ code: 0 });
  await until(() => processesOf(here).every((line) => line.startsWith(`${client} `)));
}

async function expectNextStart(here: Machine): Promise<void> {
  expect(await runPiped(here, greeting, "serve")).toMatchObject({ ...isGreeted, stderr: "" });
  const stopped = { code: 0, stdout: expect.stringMatching(/^stopped: process \d+\n$/) };
  expect(await here.runWith({ env: here.env }, "daemon", "stop")).toMatchObject(stopped);
}

it.runIf(canMount())(
  "on a full disk the client works, the host ends, and daemon stop and the next start work",
  async () => {
    await using disk = await smallDisk();
    await using machine = await gatewayMachine({});
    const here = { ...machine, env: { ...machine.env, FAIRLEAD_HOME: disk.path } };
    // With each file more, the host comes one step further: folders, locks, log, socket, token.
    for (let more = scaled(0, 2), isEnough = false; !isEnough; more += scaled(1, 3)) {
      await rm(join(disk.path, "run"), { recursive: true, force: true });
      await disk.allowFiles(more);
      const { stderr, ...ending } = await runPiped(here, greeting, "serve");
      expect({ more, ...ending }).toMatchObject({ more, ...isGreeted });
      isEnough = stderr === "";
      if (!isEnough)
        expect(stderr).toMatch(
          /^fairlead: the background host cannot be used: .*: the disk is full; this process starts its own servers\n$/,
        );
      await expectStopped(here);
      await disk.allowFiles(100);
      await expectNextStart(here);
    }
  },
  300_000,
);

/** Preloaded into the processes of Fairlead. It makes their files fail. */
const failing = fileURLToPath(new URL("../../support/failing-files.cjs", import.meta.url));

it.each([
  { process: "host", word: "__host", code: "ENOSPC", problem: "the disk is full" },
  { process: "host", word: "__host", code: "EROFS", problem: "the file system is read-only" },
  { process: "host", word: "__host", code: "EMFILE", problem: "too many files are open" },
  { process: "relay", word: "serve", code: "ENOSPC", problem: "the disk is full" },
  { process: "relay", word: "serve", code: "EROFS", problem: "the file system is read-only" },
  { process: "relay", word: "serve", code: "EMFILE", problem: "too many files are open" },
])(
  "the $process gets $code at any step of the host's start: the client works, and so do daemon stop and the next start",
  async ({ word, code, problem }) => {
    await using here = await gatewayMachine({});
    const folder = join(here.home, ".fairlead");
    const [notes, over] = [join(here.home, "notes"), join(here.home, "over")];
    const given = seed();
    process.stderr.write(`seed ${given}\n`);
    const stride = scaled(1, 15);
    for (let from = given % stride, isReached = true; isReached; from += stride) {
      for (const times of scaled(1, 0) === 1 ? [1, 1_000_000] : [from % 2 === 0 ? 1 : 1_000_000]) {
        for (const path of [folder, notes, over]) await rm(path, { recursive: true, force: true });
        const fault = JSON.stringify({ word, folder, code, from, times, notes, over });
        const env = { ...here.env, NODE_OPTIONS: `--require ${failing}`, TEST_FAILING_FILES: fault };
        const { child, ending } = startPiped({ ...here, env }, "serve");
        try {
          child.stdin.write(greeting);
          await Promise.race([once(child.stdout, "data"), ending]);
          isReached = existsSync(notes);
          await expectStopped(here, child.pid);
          // The disk works again. The client is still connected, and must not delay other clients.
          await writeFile(over, "");
          await expectNextStart(here);
        } finally {
          child.stdin.end();
        }
        expect({ from, times, ...(await ending) }).toMatchObject({
          from,
          times,
          ...isGreeted,
          stderr: expect.stringMatching(
            `^(?:fairlead: the background host cannot be used: .*: ${problem}; this process starts its own servers\n)?$`,
          ),
        });
      }
    }
  },
  600_000,
);

it("daemon stop ends a host whose token cannot be read", async () => {
  await using here = await gatewayMachine({});
  await runPiped(here, greeting, "serve");
  const pid = await here.hostPid();
  const [installation = ""] = (await readdir(join(here.home, ".fairlead/run"))).filter((name) => name.includes("-"));
  const token = join(here.home, ".fairlead/run", installation, "token");
  await rm(token);
  await mkdir(token);
  expect(await here.run("daemon", "status")).toMatchObject({
    code: 0,
    stdout: `not ready: process ${pid} is starting or ending\n`,
  });
  expect(await here.run("daemon", "stop")).toMatchObject({ code: 0, stdout: `stopped: process ${pid}\n` });
  await rm(token, { recursive: true });
  await expectNextStart(here);
});

it("with too few file descriptors the host ends or works, and daemon stop and the next start work", async () => {
  await using here = await gatewayMachine({});
  await expectNextStart(here);
  // Node itself needs about 20 of them.
  for (let most = 20; most < 30; most += scaled(1, 3)) {
    const script = 'ulimit -n "$1"; shift; exec "$@"';
    const host = spawn("/bin/sh", ["-c", script, "sh", String(most), process.execPath, program, "__host"], {
      cwd: here.home,
      env: here.env,
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    // The host says that it is ready, or why not, or it ends.
    await new Promise((resolve) => (host.stdio[3] as Readable).once("data", resolve).once("close", resolve));
    await expectStopped(here);
    await expectNextStart(here);
  }
}, 300_000);

it("a relay with too few file descriptors to start the host says so, or works, and never crashes", async () => {
  await using here = await gatewayMachine({});
  // Node itself needs about 20 of them.
  for (let most = 22; most < 30; most += scaled(1, 3)) {
    const words = ["-c", 'ulimit -n "$1"; shift; exec "$@"', "sh", String(most), process.execPath, program, "serve"];
    const { stderr } = spawnSync("/bin/sh", words, { cwd: here.home, env: here.env, input: greeting });
    expect({ most, stderr: String(stderr) }).toEqual({
      most,
      stderr: expect.stringMatching(
        /^(?:fairlead: the background host cannot be used: .*: too many files are open; .*\n)?$/,
      ),
    });
    await expectStopped(here);
  }
}, 300_000);

it("works alone, and sends nothing to the socket, if other users can replace a folder above it", async () => {
  await using here = await gatewayMachine({});
  await expectNextStart(here);
  const [installation = ""] = (await readdir(join(here.home, ".fairlead/run"))).filter((name) => name.includes("-"));
  const folder = join(here.home, ".fairlead/run", installation);
  await writeFile(join(folder, "token"), "planted");
  let greeted = 0;
  const stranger = createServer((socket) => {
    greeted += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => stranger.listen(join(folder, "socket"), resolve));
  await chmod(here.path, 0o755);
  await chmod(here.home, 0o777);
  const problem = `${here.home} is not safe to use: other users can change it (mode 777)`;
  const next = `run chmod go-w ${here.home}, or set FAIRLEAD_HOME to a folder that only you can change`;
  expect(await runPiped(here, greeting, "serve")).toMatchObject({
    ...isGreeted,
    stderr: `fairlead: the background host cannot be used: ${problem} (${next}); this process starts its own servers\n`,
  });
  expect(await here.run("daemon", "status")).toMatchObject({
    code: 4,
    stderr: `fairlead: ${problem}\n  next: ${next}\n`,
  });
  expect(greeted).toBe(0);
  await new Promise((resolve) => stranger.close(resolve));
  await chmod(here.home, 0o755);
});
