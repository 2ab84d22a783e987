/** Locks a stored sign-in, so that only one process at a time changes it. */

import { join } from "node:path";
import { HostError } from "../../errors.ts";
import { withLock } from "../../files/atomic/lock.ts";
import { ensurePrivateFolder } from "../../files/atomic/private-folder.ts";

/**
 * Runs `work` while no other process can change the sign-in `name`. Waits at most `timeout` milliseconds for other
 * processes (default: 30 s), then rejects with `busy`.
 */
export type SignInLock = <T>(name: string, work: () => Promise<T>, timeout?: number) => Promise<T>;

/** A token request takes less time than this (in milliseconds). */
const defaultTimeout = 30_000;

/**
 * Creates the lock. All processes must use the same folder.
 *
 * @param folder The folder for the lock files.
 */
export function createSignInLock(folder: string): SignInLock {
  return async (name, work, timeout = defaultTimeout) => {
    await ensurePrivateFolder(folder);
    return withLock(join(folder, name), work, { timeout });
  };
}

/** Runs `work` with the lock, or without it after the timeout: a person's sign-in or sign-out must not be lost. */
export async function evenIfBusy<T>(lock: SignInLock, name: string, work: () => Promise<T>): Promise<T> {
  const begin = (): Promise<[PromiseSettledResult<T>]> => Promise.allSettled([work()]);
  /*
   * `work` itself may fail with `busy`, and must not run again then. `allSettled` turns an error of `work` into a
   * result, so `catch` gets only errors of the lock.
   */
  const [outcome] = await lock(name, begin).catch((error: unknown) => {
    if (isBusy(error)) return begin();
    throw error;
  });
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}

/** Whether an error means that another process held the lock for too long. */
export function isBusy(error: unknown): boolean {
  return error instanceof HostError && error.code === "busy";
}
