/** Keeps account of the servers started for one host, so that nothing they start outlives it: tags, watchdog, sweeps. */

import { uptime } from "../rpc/uptime.ts";
import { type ProcessTable, readProcessTable } from "./process-table.ts";
import { createWatchdog, type Watchdog } from "./watchdog.ts";

/** Carried by every server and, unless one wipes its environment, by all that it starts. */
const tagVariable = "FAIRLEAD_CHILD";
/** A look through all processes waits a millisecond for each server that may end along with the first, but not longer. */
const longestGathering = 20;
/** It is followed by a pause of so many times its own length, so that many ends in a row stay cheap. */
const pauseFactor = 4;

/** One server's place in the account. */
export interface ProcessRegistration {
  /** To be added to the server's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** It runs, as the leader of this process group. */
  started(group: number): void;
  /** Nothing of it is left, or it never ran. */
  over(): void;
  /** Everyone who carries the server's tag; nobody where processes cannot be looked through. */
  tagged(): Promise<readonly number[]>;
  /** Whether its group, which does answer signals, has members that are not zombies. */
  groupLives(): Promise<boolean>;
}

export interface ProcessRegistry {
  /** To be called before a server is started: from here on its tag is known to the watchdog. */
  register(): Promise<ProcessRegistration>;
}

export interface ProcessRegistryOptions {
  /** What the watchdog leaves the servers between SIGTERM and SIGKILL when the host has died, in milliseconds. */
  readonly termGrace?: number;
}

/** Share one between all connections of a host: it costs one small process, started with the first server. */
export function createProcessRegistry({ termGrace = 2000 }: ProcessRegistryOptions = {}): ProcessRegistry {
  const prefix = `${randomWord()}${randomWord()}.`;
  let running = 0;
  const survey = createSurveyor(`${tagVariable}=${prefix}`, () => Math.min(running, longestGathering));
  let watchdog: Watchdog | undefined;
  let count = 0;

  async function enrol(): Promise<ProcessRegistration> {
    // On Windows a server dies with the host by itself: libuv puts it into a job that ends with us.
    if (process.platform !== "win32") watchdog ??= createWatchdog({ prefix: `${tagVariable}=${prefix}`, termGrace });
    running += 1;
    if (running === 1) watchdog?.busy();
    count += 1;
    return createEnrolment(String(count));
  }

  function createEnrolment(number: string): ProcessRegistration {
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
        return (await survey())?.tagged.get(number) ?? [];
      },
      async groupLives() {
        const found = await survey(group);
        return found === undefined || group === undefined || found.livingGroups.has(group);
      },
    };
  }

  return { register: enrol };
}

/** Everyone who asks before a look begins shares it. */
function createSurveyor(
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
