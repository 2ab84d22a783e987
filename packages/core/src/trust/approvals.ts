/** The user's approvals of workspace servers, each bound to the definition that was approved. */

import { type Approval, type ApprovalsFile, readApprovalsFile, updateApprovalsFile } from "./approvals-file.ts";

export type { Approval } from "./approvals-file.ts";

export type WorkspaceApprovals = ReadonlyMap<string, Approval>;
/** Approvals by real workspace root, then by server name. */
export type Approvals = ReadonlyMap<string, WorkspaceApprovals>;

/** Limits on stored workspaces and on servers of each; the oldest approvals are removed first. */
const mostKept = 1000;

type Stored = ApprovalsFile["workspaces"];

export async function readApprovals(state: string): Promise<Approvals> {
  return toApprovals((await readApprovalsFile(state)).workspaces);
}

export async function approve(
  state: string,
  root: string,
  servers: readonly { readonly name: string; readonly fingerprint: string }[],
  now: Date = new Date(),
): Promise<void> {
  const approved = servers.map(
    ({ name, fingerprint }) => [name, { fingerprint, approvedAt: now.toISOString() }] as const,
  );
  await updateApprovalsFile(state, ({ workspaces }) => {
    const approvals = toApprovals(workspaces);
    const ofRoot = new Map([...(approvals.get(root) ?? []), ...approved]);
    return { workspaces: toStored(new Map([...approvals, [root, ofRoot]])) };
  });
}

/** Removes the approvals of a workspace, or of the named servers only. Returns the names that were removed. */
export async function revoke(state: string, root: string, names?: readonly string[]): Promise<readonly string[]> {
  let revoked: readonly string[] = [];
  await updateApprovalsFile(state, ({ workspaces }) => {
    const approvals = toApprovals(workspaces);
    const ofRoot = approvals.get(root) ?? new Map<string, Approval>();
    revoked = [...ofRoot.keys()].filter((name) => names?.includes(name) ?? true);
    if (revoked.length === 0) return undefined;
    const left = new Map([...ofRoot].filter(([name]) => !revoked.includes(name)));
    return { workspaces: toStored(new Map([...approvals, [root, left]])) };
  });
  return revoked;
}

function toApprovals(stored: Stored): Approvals {
  return new Map(Object.entries(stored).map(([root, servers]) => [root, new Map(Object.entries(servers))]));
}

/** Uses `fromEntries`, because assigning a server named `__proto__` would set the prototype. */
function toStored(approvals: Approvals): Stored {
  const workspaces = [...approvals].flatMap(([root, servers]) => {
    const kept = newest([...servers], ({ approvedAt }) => approvedAt);
    return kept[0] === undefined
      ? []
      : [[root, { servers: Object.fromEntries(kept), last: kept[0][1].approvedAt }] as const];
  });
  return Object.fromEntries(newest(workspaces, ({ last }) => last).map(([root, { servers }]) => [root, servers]));
}

function newest<T>(entries: readonly (readonly [string, T])[], at: (value: T) => string): (readonly [string, T])[] {
  return entries.toSorted(([, a], [, b]) => (at(a) < at(b) ? 1 : -1)).slice(0, mostKept);
}
