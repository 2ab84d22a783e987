/** Starts a small process that ends the servers when the host dies, even by `kill -9`. */

import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { nodeWatchdog, shellWatchdog } from "./watchdog-script.ts";

/** If the watchdog ends while servers run, it is started again, until it has been started this many times. */
const lives = 3;
/** Whether this process is Node, Bun or Electron, which can run a script. A Fairlead packed into one file cannot. */
const isNode = process.versions["electron"] !== undefined || /[/\\](?:node|bun)[^/\\]*$/i.test(process.execPath);

/** Tells the watchdog process which servers run. */
export interface Watchdog {
  /** Starts the watchdog. Call this before the first server starts. */
  busy(): void;
  /** Stops the watchdog. Call this after the last server has ended. */
  idle(): void;
  add(group: number): void;
  remove(group: number): void;
}

/** How the watchdog finds the servers of this host, and how it ends them. */
export interface WatchdogOptions {
  /** The name and the first characters of the environment variable that this host's servers have. */
  readonly prefix: string;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly termGrace: number;
  /** The shell that runs the script. Default: `/bin/sh`. Tests set another. */
  readonly shell?: string;
}

/** Creates the watchdog without starting it. `busy` starts its process. */
export function createWatchdog({ prefix, termGrace, shell = "/bin/sh" }: WatchdogOptions): Watchdog {
  const tenths = String(Math.ceil(termGrace / 100));
  const groups = new Set<number>();
  let deaths = 0;
  let hasShell = true;
  let pipe: Socket | undefined;
  let unsent = "";

  /** If the watchdog cannot be started, the servers run without it. */
  function trySpawn(): ChildProcess | undefined {
    if (!hasShell && !isNode) return undefined;
    try {
      return spawnOne();
    } catch {
      return undefined;
    }
  }

  function spawnOne(): ChildProcess {
    const own = ["fairlead-watchdog", prefix, tenths];
    const args = hasShell
      ? ["-c", shellWatchdog, ...own, isNode ? process.execPath : "", nodeWatchdog]
      : ["-e", nodeWatchdog, ...own, "watch"];
    const { spawn } = process.getBuiltinModule("node:child_process");
    return spawn(hasShell ? shell : process.execPath, args, {
      // A session of its own: Ctrl-C or closing the host's terminal must not end the watchdog.
      detached: true,
      cwd: "/",
      /*
       * The watchdog inherits no environment. If another host started this host, the environment contains that host's
       * variable, and that host would end the watchdog.
       */
      env: process.versions["electron"] === undefined ? {} : { ELECTRON_RUN_AS_NODE: "1" },
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
    stdin.on("error", () => stdin.destroy());
    stdin.unref();
    child.unref();
    pipe = stdin;
    unsent = "";
    pipe.write(`busy\n${Array.from(groups, (group) => `+ ${group}\n`).join("")}`);
  }

  /** Lines of the same tick are written together, which is faster when many servers start. */
  function tell(line: string): void {
    if (pipe === undefined) return;
    if (unsent === "") process.nextTick(flush);
    unsent += line;
  }

  function flush(): void {
    if (unsent !== "") pipe?.write(unsent);
    unsent = "";
  }

  return {
    busy() {
      deaths = 0;
      start();
    },
    idle() {
      pipe?.end(`${unsent}idle\n`);
      unsent = "";
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
