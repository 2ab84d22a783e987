/** Which workspace servers the person has approved, exactly as they stood. */

import { type Approval, type ApprovalsFile, readApprovalsFile, updateApprovalsFile } from "./approvals-file.ts";

export type { Approval } from "./approvals-file.ts";

export type WorkspaceApprovals = ReadonlyMap<string, Approval>;
/** Real workspace root → server name → what was approved. */
export type Approvals = ReadonlyMap<string, WorkspaceApprovals>;

/** Workspaces remembered, and servers of each; what was approved longest ago is forgotten first, and asks again. */
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

/** Forgets the approvals of a workspace, or only of the servers named; answers which of them there were. */
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

/** `fromEntries` defines properties and never assigns them: a server may be called `__proto__`. */
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
