/**
 * A lock that keeps other processes from writing a file: the folder `FILE.lock`. If the lock's owner was killed,
 * another process can take the lock at once.
 */

import { setTimeout as wait } from "node:timers/promises";
import { HostError } from "../../errors.ts";
import { systemCode, unless } from "../system-error.ts";
import { noteOwner, removeDeadLock, removeNote } from "./lock-owner.ts";

/** The owner renews its lock regularly. After this many milliseconds without renewal, the lock counts as abandoned. */
const staleAfter = 10_000;
/**
 * How many milliseconds to wait for a lock. Longer than `staleAfter`, so that an abandoned lock expires during the
 * wait.
 */
const timeout = 30_000;

/** A lock that this process holds. */
export interface HeldLock {
  readonly release: () => Promise<void>;
  /** True if the lock expired while this process was suspended. Another process may hold the lock now. */
  readonly isLost: () => boolean;
}

/**
 * Runs `work` while this process holds the lock of `file`.
 *
 * @throws HostError `busy` after `timeout` milliseconds of waiting (default: 30 000)
 */
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

/** Takes the lock without waiting. Undefined if the lock is held. */
export async function tryLock(file: string): Promise<HeldLock | undefined> {
  const { default: lockfile } = await import("proper-lockfile");
  let isLost = false;
  // The library's own retries are not used, because they also repeat errors such as a missing permission.
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
