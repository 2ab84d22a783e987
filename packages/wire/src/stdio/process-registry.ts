/** Keeps track of all server processes of one host, so that none of their child processes outlives the host. */

import { uptime } from "../rpc/time.ts";
import { type ProcessTable, readProcessTable } from "./process-table.ts";
import { createWatchdog, type Watchdog } from "./watchdog.ts";

/**
 * Servers get this environment variable and their child processes inherit it, so Fairlead can find the child processes.
 */
const tagVariable = "FAIRLEAD_CHILD";
/**
 * Fairlead waits at most this many milliseconds before it reads the process table. One read is then enough for all
 * servers that end during this time.
 */
const maxGatheringTime = 20;
/** After a read of the process table, Fairlead waits this many times as long as the read took. */
const pauseFactor = 4;

/** The registration of one server process. */
export interface ProcessRegistration {
  /** Variables to add to the server's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Must be called when the server runs. `group` is its process group. */
  started(group: number): void;
  /** Must be called when the server and its child processes have ended, or when the server could not be started. */
  over(): void;
  /**
   * Returns the ids of the processes that have the server's environment variable. Always empty on systems other than
   * Linux.
   */
  tagged(): Promise<readonly number[]>;
  /** Whether a process of the group still runs. A zombie does not count. Always true on systems other than Linux. */
  groupLives(): Promise<boolean>;
}

/** Registers server processes, and starts a watchdog process that ends them if the host dies. */
export interface ProcessRegistry {
  /** Registers a server that is about to start. */
  register(): Promise<ProcessRegistration>;
}

/** Options of `createProcessRegistry`. */
export interface ProcessRegistryOptions {
  /** After the host has died, the watchdog sends SIGTERM, and after this many milliseconds SIGKILL. Default: 2000. */
  readonly termGrace?: number;
}

/** Creates a registry. Use one registry for all connections, because each registry starts its own watchdog process. */
export function createProcessRegistry({ termGrace = 2000 }: ProcessRegistryOptions = {}): ProcessRegistry {
  const prefix = `${randomWord()}${randomWord()}.`;
  let running = 0;
  const readTable = createTableReader(`${tagVariable}=${prefix}`, () => Math.min(running, maxGatheringTime));
  let watchdog: Watchdog | undefined;
  let count = 0;

  async function register(): Promise<ProcessRegistration> {
    // Windows needs no watchdog: libuv puts servers into a job object, and Windows ends it with the host.
    if (process.platform !== "win32") watchdog ??= createWatchdog({ prefix: `${tagVariable}=${prefix}`, termGrace });
    running += 1;
    if (running === 1) watchdog?.busy();
    count += 1;
    return createRegistration(String(count));
  }

  function createRegistration(number: string): ProcessRegistration {
    let group: number | undefined;
    let isOver = false;
    return {
      environment: { [tagVariable]: prefix + number },
      started(pid) {
        group = pid;
        watchdog?.add(pid);
      },
      over() {
        if (isOver) return;
        isOver = true;
        running -= 1;
        if (group !== undefined) watchdog?.remove(group);
        if (running === 0) watchdog?.idle();
      },
      async tagged() {
        return (await readTable())?.tagged.get(number) ?? [];
      },
      async groupLives() {
        const found = await readTable(group);
        return found === undefined || group === undefined || found.livingGroups.has(group);
      },
    };
  }

  return { register };
}

/** Callers that ask before the next read begins share its result. */
function createTableReader(
  prefix: string,
  gathering: () => number,
): (group?: number) => Promise<ProcessTable | undefined> {
  let groups = new Set<number>();
  let next: Promise<ProcessTable | undefined> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let notBefore = 0;

  async function look(): Promise<ProcessTable | undefined> {
    await last;
    const pause = Math.max(gathering(), notBefore - uptime());
    await new Promise((resolve) => setTimeout(resolve, pause));
    const asked = groups;
    groups = new Set();
    next = undefined;
    const begin = uptime();
    const found = readProcessTable(prefix, asked).catch(() => undefined);
    last = found.then(() => {
      const end = uptime();
      notBefore = end + (end - begin) * pauseFactor;
    });
    return found;
  }

  return (group) => {
    if (process.platform !== "linux") return Promise.resolve(undefined);
    if (group !== undefined) groups.add(group);
    next ??= look();
    return next;
  };
}

function randomWord(): string {
  return Math.random().toString(36).slice(2);
}
