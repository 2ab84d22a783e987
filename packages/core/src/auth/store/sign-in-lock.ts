/** One at a time changes what is stored of a sign-in, whichever process it is: who renews it, makes it, doubts it or ends it. */

import { join } from "node:path";
import { HostError } from "../../errors.ts";
import { withLock } from "../../files/atomic/lock.ts";
import { ensurePrivateFolder } from "../../files/atomic/private-folder.ts";

/** `patience`: how long to wait for others, in milliseconds. Rejects with `busy` when they do not finish. */
export type SignInLock = <T>(name: string, work: () => Promise<T>, patience?: number) => Promise<T>;

/** Longer than a request for tokens may take. */
const usualPatience = 30_000;

export function createSignInLock(folder: string): SignInLock {
  return async (name, work, patience = usualPatience) => {
    await ensurePrivateFolder(folder);
    return withLock(join(folder, name), work, { patience });
  };
}

/** What a person has decided is done, also where others do not finish. */
export async function evenIfBusy<T>(lock: SignInLock, name: string, work: () => Promise<T>): Promise<T> {
  const begin = (): Promise<[PromiseSettledResult<T>]> => Promise.allSettled([work()]);
  // How the work ends is kept apart from whether the lock could be had: it is never done twice.
  const [outcome] = await lock(name, begin).catch((error: unknown) => {
    if (isBusy(error)) return begin();
    throw error;
  });
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}

export function isBusy(error: unknown): boolean {
  return error instanceof HostError && error.code === "busy";
}
