/** Locks a stored sign-in, so that only one process at a time changes it. */

import { join } from "node:path";
import { HostError } from "../../errors.ts";
import { withLock } from "../../files/atomic/lock.ts";
import { ensurePrivateFolder } from "../../files/atomic/private-folder.ts";

/**
 * Runs `work` while this process holds the lock of the sign-in `name`. Waits `timeout` milliseconds for other processes
 * (30 s by default), then rejects with `busy`.
 */
export type SignInLock = <T>(name: string, work: () => Promise<T>, timeout?: number) => Promise<T>;

/** Milliseconds to wait for the lock. A token request takes less time. */
const defaultTimeout = 30_000;

/** @param folder Folder of the lock files. */
export function createSignInLock(folder: string): SignInLock {
  return async (name, work, timeout = defaultTimeout) => {
    await ensurePrivateFolder(folder);
    return withLock(join(folder, name), work, { timeout });
  };
}

/** Runs `work` even if another process keeps the lock, because a person's sign-in or sign-out must not be lost. */
export async function evenIfBusy<T>(lock: SignInLock, name: string, work: () => Promise<T>): Promise<T> {
  const begin = (): Promise<[PromiseSettledResult<T>]> => Promise.allSettled([work()]);
  /*
   * `allSettled` separates errors of `work` from errors of the lock. Otherwise a `busy` error of `work` would start
   * `work` a second time.
   */
  const [outcome] = await lock(name, begin).catch((error: unknown) => {
    if (isBusy(error)) return begin();
    throw error;
  });
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}

/** Whether the error says that another process held the lock until the timeout. */
export function isBusy(error: unknown): boolean {
  return error instanceof HostError && error.code === "busy";
}
