/** One writer at a time for a file, across processes: a `FILE.lock` folder that a dead owner cannot keep. */

import { setTimeout as wait } from "node:timers/promises";
import { HostError } from "../../errors.ts";
import { systemCode, unless } from "../system-error.ts";

/** An owner that has given no sign of life for so long is dead. */
const staleAfter = 10_000;
/** Longer than `staleAfter`: a lock that a killed writer left behind is outlived, not reported. */
const timeout = 30_000;

export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  options: { timeout?: number } = {},
): Promise<T> {
  const release = await acquire(file, Date.now() + (options.timeout ?? timeout));
  try {
    return await work();
  } finally {
    await release();
  }
}

async function acquire(file: string, deadline: number): Promise<() => Promise<void>> {
  const { default: lockfile } = await import("proper-lockfile");
  let isLost = false;
  // The library's own retries would also repeat what cannot succeed, such as a missing permission.
  for (;;) {
    try {
      const release = await lockfile.lock(file, {
        realpath: false,
        stale: staleAfter,
        // Happens when this process was asleep for long: another has the lock now, and must keep it.
        onCompromised: () => {
          isLost = true;
        },
      });
      return async () => {
        if (!isLost) await release().catch(unless("ERELEASED", "ENOTACQUIRED"));
      };
    } catch (error) {
      if (systemCode(error) !== "ELOCKED") throw error;
      if (Date.now() > deadline) throw busy(file, error);
    }
    // Uneven, so that many writers do not come back all at the same moment.
    await wait(5 + Math.random() * 45);
  }
}

function busy(file: string, cause: unknown): HostError {
  return new HostError("busy", `another program is writing to ${file} and does not finish; nothing was changed`, {
    next: `Try again. If no other program uses the file, remove the folder ${file}.lock first.`,
    cause,
  });
}
