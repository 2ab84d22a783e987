/**
 * A lock for one file across processes: the folder `FILE.lock`. If the owner has died, another process takes the lock
 * over at once.
 */

import { setTimeout as wait } from "node:timers/promises";
import { HostError } from "../../errors.ts";
import { systemCode, unless } from "../system-error.ts";
import { noteOwner, removeDeadLock, removeNote } from "./lock-owner.ts";

/** After how many milliseconds without renewal a lock counts as abandoned, even if its owner is unknown. */
const staleAfter = 10_000;
/**
 * How many milliseconds to wait for a lock. More than `staleAfter`, so that the lock of a killed process expires while
 * others wait.
 */
const timeout = 30_000;

/** A lock that this process holds. */
export interface HeldLock {
  readonly release: () => Promise<void>;
  /** True if the lock expired while this process was suspended. Another process may hold the lock now. */
  readonly isLost: () => boolean;
}

export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  options: { timeout?: number } = {},
): Promise<T> {
  const { release } = await acquire(file, Date.now() + (options.timeout ?? timeout));
  try {
    return await work();
  } finally {
    await release();
  }
}

async function acquire(file: string, deadline: number): Promise<HeldLock> {
  for (;;) {
    const held = await tryLock(file);
    if (held !== undefined) return held;
    if (Date.now() > deadline) throw busy(file);
    // A random pause, so that waiting processes do not all retry at the same moment.
    await wait(5 + Math.random() * 45);
  }
}

/** Takes the lock. Returns undefined if a running process holds it. */
export async function tryLock(file: string): Promise<HeldLock | undefined> {
  const { default: lockfile } = await import("proper-lockfile");
  let isLost = false;
  // Does not use the library's retries, because the library also retries after errors such as a missing permission.
  for (;;) {
    try {
      const release = await lockfile.lock(file, {
        realpath: false,
        stale: staleAfter,
        onCompromised: () => {
          isLost = true;
        },
      });
      const note = await noteOwner(file);
      return {
        isLost: () => isLost,
        async release() {
          if (!isLost) await release().catch(unless("ERELEASED", "ENOTACQUIRED"));
          await removeNote(file, note);
        },
      };
    } catch (error) {
      if (systemCode(error) !== "ELOCKED") throw error;
      if (!(await removeDeadLock(file))) return undefined;
    }
  }
}

function busy(file: string): HostError {
  return new HostError("busy", `another program is writing to ${file} and does not finish; nothing was changed`, {
    next: `Try again. If no other program uses the file, remove the folder ${file}.lock first.`,
  });
}
