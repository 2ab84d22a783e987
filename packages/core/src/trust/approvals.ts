/** Which workspace servers the person has approved, exactly as they stood: `approvals.json` among our own state. */

import { join } from "node:path";
import { readState, updateState } from "../files/state-file.ts";

export interface Approval {
  readonly fingerprint: string;
  /** ISO 8601. */
  readonly approvedAt: string;
}

export type WorkspaceApprovals = ReadonlyMap<string, Approval>;
/** Real workspace root → server name → what was approved. */
export type Approvals = ReadonlyMap<string, WorkspaceApprovals>;

/** Workspaces remembered, and servers of each; what was approved longest ago is forgotten first, and asks again. */
const mostKept = 1000;

/** The same as plain objects, as it lies on disk. */
type Stored = Readonly<Record<string, Readonly<Record<string, Approval>>>>;

export async function readApprovals(state: string): Promise<Approvals> {
  return toApprovals(await readState(fileIn(state), parse));
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
  await updateState(fileIn(state), parse, (stored) => {
    const approvals = toApprovals(stored);
    return toStored(new Map([...approvals, [root, new Map([...(approvals.get(root) ?? []), ...approved])]]));
  });
}

/** Forgets the approvals of a workspace, or only of the servers named; answers which of them there were. */
export async function revoke(state: string, root: string, names?: readonly string[]): Promise<readonly string[]> {
  let revoked: readonly string[] = [];
  await updateState(fileIn(state), parse, (stored) => {
    const approvals = toApprovals(stored);
    const ofRoot = approvals.get(root) ?? new Map<string, Approval>();
    revoked = [...ofRoot.keys()].filter((name) => names?.includes(name) ?? true);
    if (revoked.length === 0) return undefined;
    return toStored(new Map([...approvals, [root, new Map([...ofRoot].filter(([name]) => !revoked.includes(name)))]]));
  });
  return revoked;
}

function fileIn(state: string): string {
  return join(state, "approvals.json");
}

function toApprovals(stored: Stored | undefined): Approvals {
  return new Map(Object.entries(stored ?? {}).map(([root, servers]) => [root, new Map(Object.entries(servers))]));
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

function parse(value: unknown): Stored | undefined {
  return isRecordOf(value, (servers) => isRecordOf(servers, isApproval)) ? value : undefined;
}

function isRecordOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is Record<string, T> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isItem);
}

function isApproval(value: unknown): value is Approval {
  if (typeof value !== "object" || value === null) return false;
  const { fingerprint, approvedAt } = value as Partial<Record<keyof Approval, unknown>>;
  return typeof fingerprint === "string" && typeof approvedAt === "string";
}
