/** Compares the workspace's servers with the lock file. A server that was not reached never counts as unchanged. */

import type { HostError } from "@fairlead/core/errors";
import { compareLock, isEntryChanged, type LockDrift } from "@fairlead/core/policy/lock/lock-drift";
import type { LockFile } from "@fairlead/core/policy/lock/lock-file";
import type { Context } from "../shell/verb.ts";
import { readSnapshots, type ServerSnapshot } from "./server-snapshot.ts";
import type { LockWorkspace } from "./workspace.ts";

export interface LockCheck {
  readonly name: string;
  readonly lock: LockFile;
  readonly drift: LockDrift | undefined;
  readonly look: ServerSnapshot | undefined;
  /** Whether the server was not started because its entry differs from the lock file. */
  readonly isWithheld: boolean;
}

export async function checkLock(
  lock: LockFile,
  workspace: LockWorkspace,
  context: Context,
): Promise<readonly LockCheck[]> {
  const { entries, configuration } = workspace;
  const isWithheld = (name: string): boolean => {
    const [locked, entry] = [lock.get(name), entries.get(name)];
    // --trust-workspace approves all entries; here only entries that match the lock file may start.
    if (!configuration.trust.approvesEntries || entry === undefined) return false;
    return locked === undefined || isEntryChanged(locked.entry, entry);
  };
  const looks = await readSnapshots(
    [...entries.keys()].filter((name) => !isWithheld(name)),
    workspace,
    context,
  );
  const present = [...entries].map(([name, entry]) => {
    const look = looks.get(name);
    return [name, { entry, ...(look?.kind === "seen" && { offer: look.offer }) }] as const;
  });
  const drifts = new Map(compareLock(lock, new Map(present)).map((drift) => [drift.server, drift]));
  const names = [...new Set([...entries.keys(), ...lock.keys()])];
  return names.map((name) => ({
    name,
    lock,
    drift: drifts.get(name),
    look: looks.get(name),
    isWithheld: isWithheld(name),
  }));
}

export function isAsLocked({ drift, look }: LockCheck): boolean {
  return drift === undefined && look?.kind === "seen";
}

/** Why the server could not be reached. */
export function errorOf({ look }: LockCheck): HostError | undefined {
  return look?.kind === "unseen" ? look.error : undefined;
}
