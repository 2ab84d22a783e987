/** A tiny process beside the host that ends its servers when the host dies without a word, even of `kill -9`. */

import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { nodeWatchdog, shellWatchdog } from "./watchdog-script.ts";

/** A watchdog that is killed comes back, but not for ever. */
const lives = 3;

export interface Watchdog {
  /** To be called before a server is started, when none is running. */
  busy(): void;
  /** No server is running any more: there is nothing to watch. */
  idle(): void;
  add(group: number): void;
  remove(group: number): void;
}

export interface WatchdogOptions {
  /** What the environment of every server contains, and nothing else. */
  readonly prefix: string;
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  readonly termGrace: number;
  /** Replaced in tests. */
  readonly shell?: string;
}

export function createWatchdog({ prefix, termGrace, shell = "/bin/sh" }: WatchdogOptions): Watchdog {
  const tenths = String(Math.ceil(termGrace / 100));
  const groups = new Set<number>();
  let deaths = 0;
  let hasShell = true;
  let pipe: Socket | undefined;
  let unsaid = "";

  /** A server without a watchdog is better than none. */
  function trySpawn(): ChildProcess | undefined {
    try {
      return spawnOne();
    } catch {
      return undefined;
    }
  }

  function spawnOne(): ChildProcess {
    const command = hasShell ? shell : process.execPath;
    const script = hasShell ? ["-c", shellWatchdog, "fairlead-watchdog", prefix] : ["-e", nodeWatchdog, "watchdog"];
    const { spawn } = process.getBuiltinModule("node:child_process");
    return spawn(command, [...script, tenths], {
      // A session of its own: what is typed at the host's terminal, or its closing, is none of its business.
      detached: true,
      cwd: "/",
      // Not our environment: it may carry the tag of another host, whose sweep would end the watchdog.
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
      stdio: ["pipe", "ignore", "ignore"],
    });
  }

  function start(): void {
    const child = trySpawn();
    if (child === undefined) return;
    const { stdin } = child;
    const net = process.getBuiltinModule("node:net");
    const died = () => {
      if (pipe !== stdin) return;
      pipe = undefined;
      deaths += 1;
      if (deaths < lives) start();
    };
    child.on("exit", died);
    child.on("error", (error) => {
      hasShell &&= !isMissing(error);
      died();
    });
    if (!(stdin instanceof net.Socket)) return;
    // A broken pipe means that the watchdog died, and its exit says so.
    stdin.on("error", () => stdin.destroy());
    // The host may end whenever it likes: the end of the pipe is the message.
    stdin.unref();
    child.unref();
    pipe = stdin;
    unsaid = "";
    pipe.write(`busy\n${Array.from(groups, (group) => `+ ${group}\n`).join("")}`);
  }

  /** One write for all of a tick: with many servers at once, one for each would cost as much as their first request. */
  function tell(line: string): void {
    if (pipe === undefined) return;
    if (unsaid === "") process.nextTick(flush);
    unsaid += line;
  }

  function flush(): void {
    if (unsaid !== "") pipe?.write(unsaid);
    unsaid = "";
  }

  return {
    busy() {
      deaths = 0;
      start();
    },
    idle() {
      pipe?.end(`${unsaid}idle\n`);
      unsaid = "";
      pipe = undefined;
    },
    add(group) {
      groups.add(group);
      tell(`+ ${group}\n`);
    },
    remove(group) {
      groups.delete(group);
      tell(`- ${group}\n`);
    },
  };
}

function isMissing(error: Error): boolean {
  return "code" in error && (error.code === "ENOENT" || error.code === "EACCES");
}
