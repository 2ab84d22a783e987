import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, open, rename } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  childrenOf,
  isRunning,
  processesWith,
  scaled,
  type TemporaryFolder,
  temporaryFolder,
  until,
} from "@fairlead/test-servers";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodeWatchdog, shellWatchdog } from "../../src/stdio/watchdog-script.ts";
import { processTable } from "../support/process-table.ts";
import { pidsOf } from "../support/stdio-server.ts";

const path = process.env["PATH"] ?? "/usr/bin:/bin";
const newMark = () => randomBytes(8).toString("hex");
const fileOf = (name: string) => fileURLToPath(new URL(`../programs/${name}`, import.meta.url));
/** The launcher as the host's arguments. */
const family = (...how: string[]): readonly string[] => ["/bin/bash", fileOf("family.sh"), ...how];

describe("when the host dies", () => {
  let folder: TemporaryFolder;

  beforeAll(async () => {
    folder = await temporaryFolder();
    buildSync({
      entryPoints: [fileOf("host.ts")],
      outfile: `${folder.path}/host.mjs`,
      bundle: true,
      platform: "node",
      format: "esm",
      external: ["cross-spawn"],
    });
  });
  afterAll(() => folder[Symbol.asyncDispose]());

  /** The mark is in the host's own environment, too: it counts as one of the processes. */
  function startHost(mark: string, ...args: string[]): ChildProcess {
    return startHostWith({ PATH: path, MARK: mark }, ...args);
  }

  function startHostWith(env: Record<string, string>, ...args: string[]): ChildProcess {
    return spawn(process.execPath, [`${folder.path}/host.mjs`, ...args], { stdio: ["ignore", "pipe", "inherit"], env });
  }

  /** The processes it has told about by the time it says "now". */
  async function reachesNow({ stdout }: ChildProcess): Promise<number[]> {
    const pids: number[] = [];
    if (stdout === null) throw new Error("no stdout");
    for await (const line of createInterface({ input: stdout })) {
      if (line === "now") break;
      pids.push(...pidsOf(JSON.parse(line)));
    }
    return pids;
  }

  /** Resolves when the host has finished what it was doing, such as writing to a new watchdog. */
  async function answers(host: ChildProcess): Promise<void> {
    if (host.stdout === null) throw new Error("no stdout");
    const line = once(createInterface({ input: host.stdout }), "line");
    host.kill("SIGUSR2");
    expect(await line).toEqual(["here"]);
  }

  async function dies(host: ChildProcess): Promise<void> {
    host.kill("SIGKILL");
    await once(host, "exit");
  }

  const moments = ["starting", "ready", "stopping"];
  test.each(moments)("of kill -9 while its servers are %s, nothing is left", { timeout: 600_000 }, async (how) => {
    for (let round = 0; round < scaled(40, 2); round += 1) {
      const mark = newMark();
      const host = startHost(mark, how, ...family(...(round % 2 === 0 ? ["stubborn"] : [])));
      const pids = await reachesNow(host);
      await dies(host);
      await until(() => !pids.some(isRunning) && processesWith(mark).length === 0);
    }
  });

  test("of kill -9 with one stubborn server and one that it had closed, nothing is left", async () => {
    const mark = newMark();
    const host = startHost(mark, "mixed", ...family("stubborn"));
    const pids = await reachesNow(host);
    expect(childrenOf(host.pid ?? 0, "fairlead-watchdog").filter(isRunning)).toHaveLength(1);
    expect([pids.length, pids.filter(isRunning).length]).toEqual([15, 10]);
    await dies(host);
    await until(() => !pids.some(isRunning) && processesWith(mark).length === 0);
  });

  test("of an exit that closes nothing, nothing is left", async () => {
    const mark = newMark();
    const pids = await reachesNow(startHost(mark, "exiting", ...family("stubborn")));
    expect(pids).toHaveLength(15);
    await until(() => !pids.some(isRunning) && processesWith(mark).length === 0);
  });

  test("no program of its PATH runs", async () => {
    const mark = newMark();
    const names = ["grep", "sleep", "tr", "sh", "cat", "kill", "printf", "node", "echo", "test", "["];
    for (const name of names) {
      const file = await folder.write(`bin/${name}`, `#!/bin/sh\necho ${name} >> ${folder.path}/planted\nexit 1\n`);
      await chmod(file, 0o755);
    }
    const env = { PATH: `${folder.path}/bin:${path}`, SERVER_PATH: path, MARK: mark };
    const host = startHostWith(env, "ready", ...family("stubborn"));
    const pids = await reachesNow(host);
    await dies(host);
    await until(() => !pids.some(isRunning) && processesWith(mark).length === 0);
    expect(existsSync(`${folder.path}/planted`)).toBe(false);
  });

  test("and its watchdog was killed before, another has taken its place; after the end there is none", async () => {
    const mark = newMark();
    const host = startHost(mark, "ready", ...family("stubborn"));
    const pids = await reachesNow(host);
    const watchdogs = () => childrenOf(host.pid ?? 0, "fairlead-watchdog");
    await until(() => watchdogs().length > 0);
    const [first = Number.NaN] = watchdogs();
    process.kill(first, "SIGKILL");
    await until(() => watchdogs().some((pid) => pid !== first && isRunning(pid)));
    const [second = 0] = watchdogs().filter(isRunning);
    await answers(host);
    await dies(host);
    await until(() => !pids.some(isRunning) && !isRunning(second) && processesWith(mark).length === 0);
  });
});

const own = (prefix: string): readonly string[] => ["fairlead-watchdog", prefix, "2"];
const inShell = (prefix: string, node: string): readonly string[] => [
  "-c",
  shellWatchdog,
  ...own(prefix),
  node,
  nodeWatchdog,
];
const inNode = (prefix: string): readonly string[] => ["-e", nodeWatchdog, ...own(prefix), "watch"];

describe.each<[string, string, (prefix: string) => readonly string[]]>([
  ["shell", "/bin/sh", (prefix) => inShell(prefix, process.execPath)],
  ["shell, if Node cannot be started", "/bin/sh", (prefix) => inShell(prefix, "/no/such/node")],
  ["shell, in a program that is not Node", "/bin/sh", (prefix) => inShell(prefix, "")],
  ["Node", process.execPath, inNode],
])("the watchdog for %s", (_, command, args) => {
  /** What a host would tell it, and then the host's end. */
  async function hears(prefix: string, lines: readonly string[]): Promise<void> {
    const watchdog = spawn(command, args(prefix), { stdio: ["pipe", "ignore", "ignore"], env: {} });
    const ended = once(watchdog, "exit");
    watchdog.stdin.end(lines.map((line) => `${line}\n`).join(""));
    await ended;
  }

  async function startGroup(code: string, env: Record<string, string> = {}) {
    const child = spawn("/bin/sh", ["-c", `${code} echo; while :; do sleep 1; done`], {
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
      env: { PATH: path, ...env },
    });
    const exited = once(child, "exit");
    await once(child.stdout, "data");
    return { pid: child.pid ?? 0, exited };
  }

  test("ends the groups that are registered, also those that heed no SIGTERM", async () => {
    const groups = [await startGroup(""), await startGroup("trap '' TERM;")];
    await hears("TAG=none", ["busy", ...groups.map(({ pid }) => `+ ${pid}`)]);
    const [polite, stubborn] = await Promise.all(groups.map(({ exited }) => exited));
    expect([polite?.[1], stubborn?.[1]]).toEqual(["SIGTERM", "SIGKILL"]);
  });

  test("leaves alone what was taken off its list", async () => {
    const groups = [await startGroup(""), await startGroup(""), await startGroup("")];
    const [first, second, third] = groups.map(({ pid }) => pid);
    await hears("TAG=none", [
      "busy",
      `+ ${first}`,
      `+ ${second}`,
      `+ ${third}`,
      `- ${second}`,
      `- ${first}`,
      "- 999999",
    ]);
    // The watchdog may be gone before a group to which it has just sent its last signal.
    await groups[2]?.exited;
    expect(groups.map(({ pid }) => isRunning(pid))).toEqual([true, true, false]);
    for (const { pid } of groups.slice(0, 2)) process.kill(-pid, "SIGKILL");
    await Promise.all(groups.map(({ exited }) => exited));
  });
});

test.each<[string, string, (prefix: string) => readonly string[]]>([
  ["shell", "/bin/sh", (prefix) => inShell(prefix, process.execPath)],
  ["Node", process.execPath, inNode],
])("the watchdog for %s finds by its tag what was started but not yet registered, and only that", async (...row) => {
  const [, command, args] = row;
  const tag = `TAG=${newMark()}.`;
  const start = (env: Record<string, string>) =>
    spawn("sleep", ["600"], { detached: true, stdio: "ignore", env: { PATH: path, ...env } });
  const [ours, other] = [start({ TAG: `${tag.slice(4)}1` }), start({ TAG: newMark() })];
  const exited = once(ours, "exit");
  await until(() => processesWith(tag).length > 0);
  const watchdog = spawn(command, args(tag), { stdio: ["pipe", "ignore", "inherit"], env: {} });
  const ended = once(watchdog, "exit");
  watchdog.stdin.end("busy\n");
  expect(await exited).toEqual([null, "SIGTERM"]);
  await ended;
  expect(isRunning(other.pid ?? 0)).toBe(true);
  const killed = once(other, "exit");
  other.kill("SIGKILL");
  await killed;
});

test("the watchdog finds a process that has no environment at first, because it replaces its program", async () => {
  const tag = `TAG=${newMark()}`;
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore", env: { PATH: path } });
  const exited = once(child, "exit");
  await using table = await processTable({ pid: child.pid ?? 0 });
  const environment = `${table.path}/${child.pid}/environ`;
  await once(spawn("mkfifo", [`${environment}.new`]), "exit");
  await rename(`${environment}.new`, environment);
  const script = nodeWatchdog.replaceAll("/proc", table.path);
  const watchdog = spawn(process.execPath, ["-e", script, ...own(tag), "end"], { stdio: "ignore", env: {} });
  const ended = once(watchdog, "exit");
  // Resolves when the watchdog reads the environment. It reads nothing, and finds a file at its next look.
  const pipe = await open(environment, "w");
  await table.write(`${child.pid}/environ.new`, tag);
  await rename(`${environment}.new`, environment);
  await pipe.close();
  await ended;
  child.kill("SIGHUP");
  expect(await exited).toEqual([null, "SIGKILL"]);
});
