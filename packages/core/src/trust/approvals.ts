/** The user's approvals of workspace servers. Each approval is valid for one definition and its program files. */

import { join } from "node:path";
import { isObject } from "@fairlead/wire/json";
import { readState, updateState } from "../files/atomic/state-file.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import { sandboxLine } from "../settings/define/describe-sandbox.ts";
import { isSamePrograms, type ProgramFile } from "./approved-programs.ts";

/** The approvals of one workspace, by server name. */
export type WorkspaceApprovals = ReadonlyMap<string, Approval>;
/** Approvals by the real path of the workspace root, then by server name. */
export type Approvals = ReadonlyMap<string, WorkspaceApprovals>;

/**
 * The file keeps at most this many workspaces, and this many servers in each. Fairlead removes the oldest approvals
 * first.
 */
const mostKept = 1000;
/** An approval keeps at most this many sets of program files. */
const mostProgramsKept = 16;
const longestSandbox = 2000;

type Stored = ApprovalsFile["workspaces"];

/** Reads the approvals of all workspaces. `state` is Fairlead's state folder. */
export async function readApprovals(state: string): Promise<Approvals> {
  return toApprovals((await readApprovalsFile(state)).workspaces);
}

/** Stores approvals for servers of the workspace `root`. Replaces earlier approvals of the same names. */
export async function approve(
  state: string,
  root: string,
  servers: readonly Approvable[],
  now: Date = new Date(),
): Promise<void> {
  await updateApprovalsFile(state, ({ workspaces }) => {
    const approvals = toApprovals(workspaces);
    const old = approvals.get(root);
    const approved = servers.map((server) => [server.name, toApproval(server, old?.get(server.name), now)] as const);
    const ofRoot = new Map([...(old ?? []), ...approved]);
    return { workspaces: toStored(new Map([...approvals, [root, ofRoot]])) };
  });
}

/** The parts of a server definition that an approval covers. */
export type Approvable = Pick<ServerDefinition, "name" | "fingerprint" | "programs"> &
  Partial<Pick<ServerDefinition, "transport" | "sandbox" | "base">>;

/**
 * Creates the approval of a server. Keeps program files that were approved earlier, because one entry may run different
 * files (for example, two versions of Node in two terminals).
 */
function toApproval(server: Approvable, old: Approval | undefined, now: Date): Approval {
  const { fingerprint, programs } = server;
  const sandbox = approvedSandbox(server);
  const approval = { fingerprint, approvedAt: now.toISOString(), ...(sandbox !== undefined && { sandbox }) };
  if (programs === undefined) return approval;
  const earlier = old?.fingerprint === fingerprint ? (old.programs ?? []) : [];
  const others = earlier.filter((files) => !isSamePrograms(files, programs));
  return { ...approval, programs: [programs, ...others].slice(0, mostProgramsKept) };
}

/** The sandbox in words, for a later comparison. Undefined if the server has none. */
export function approvedSandbox({ transport, sandbox, base }: Approvable): string | undefined {
  if (transport === undefined || base === undefined || sandbox === undefined) return undefined;
  return sandboxLine({ transport, sandbox, base })?.slice(0, longestSandbox);
}

/** Whether the approval covers the server's current entry and the files that the server would run now. */
export function isApprovedBy(approval: Approval | undefined, { fingerprint, programs }: Approvable): boolean {
  if (approval?.fingerprint !== fingerprint) return false;
  return programs === undefined || (approval.programs ?? []).some((files) => isSamePrograms(files, programs));
}

/**
 * Removes the approvals of a workspace, or only those of the servers in `names`. Returns the names that were removed.
 */
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

/**
 * Converts the approvals to the form in which the file stores them. Uses `fromEntries`, because a server may be named
 * `__proto__`, and an assignment to that key would set the prototype.
 */
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
  return entries.toSorted(([, a], [, b]) => at(b).localeCompare(at(a))).slice(0, mostKept);
}

/** The approval of one workspace server. It is valid for one definition only. */
export interface Approval {
  readonly fingerprint: string;
  /** ISO 8601. */
  readonly approvedAt: string;
  /** The approved sets of program files of a stdio server, newest set first. Absent for a server with a URL. */
  readonly programs?: readonly (readonly ProgramFile[])[];
  /** The approved sandbox in words, so that Fairlead can show a later change. Absent if there was none. */
  readonly sandbox?: string;
}

/** The approval of one tool. It is valid for one definition of the tool and one server entry only. */
export interface ToolApproval extends Approval {
  readonly server: string;
  /**
   * Present if the approval is for a skill: `tool` is then its URI, and `digest` that of its entry. Or for a host that the
   * server may reach from its sandbox: `tool` is then `name:port`.
   */
  readonly kind?: "skill" | "host";
  readonly tool: string;
  /** Digest of the tool's definition. */
  readonly digest: string;
  /**
   * The folder that the approval is bound to, because in another folder an equal entry may run another program. Absent
   * if the server is the same in every folder.
   */
  readonly workspace?: string;
  /** The gateway client whose requests are approved. If absent, the requests of all senders are. */
  readonly client?: string;
  /** The approved definition as JSON, so that Fairlead can show a later change. Absent if the JSON is too long. */
  readonly definition?: string;
}

interface ApprovalsFile {
  readonly version: 2;
  readonly workspaces: Readonly<Record<string, Readonly<Record<string, Approval>>>>;
  readonly tools: readonly ToolApproval[];
  /**
   * The approvals with a `client`. Earlier versions do not know this condition, so they must not find these approvals
   * in `tools`.
   */
  readonly clientTools: readonly ToolApproval[];
  /** The approvals of skills. Earlier versions would take them for approvals of tools. */
  readonly skills: readonly ToolApproval[];
  /** The approvals of hosts. Earlier versions do not know them. */
  readonly hosts: readonly ToolApproval[];
}

const nothing: ApprovalsFile = { version: 2, workspaces: {}, tools: [], clientTools: [], skills: [], hosts: [] };

/** Reads the approvals of servers and tools. Empty if the file does not exist. */
export async function readApprovalsFile(state: string): Promise<ApprovalsFile> {
  return (await readState(approvalsPath(state), parse)) ?? nothing;
}

/**
 * Changes the approvals file under a lock. If `change` returns undefined, the file stays unchanged. `change` may run
 * more than once.
 */
export async function updateApprovalsFile(
  state: string,
  change: (file: ApprovalsFile) => Partial<ApprovalsFile> | undefined,
): Promise<void> {
  await updateState(approvalsPath(state), parse, (file = nothing) => {
    const changed = change(file);
    return changed && { ...file, ...changed };
  });
}

/** Returns the path of the approvals file in Fairlead's state folder. */
export function approvalsPath(state: string): string {
  return join(state, "approvals.json");
}

/** Parses the approvals file in version 2 or version 1. Version 1 contained no approvals of tools. */
function parse(value: unknown): ApprovalsFile | undefined {
  if (!isObject(value)) return undefined;
  const file = value as Partial<Record<keyof ApprovalsFile, unknown>>;
  const { version, workspaces, tools, clientTools = [], skills = [], hosts = [] } = file;
  if (version !== 2) return isWorkspaces(value) ? { ...nothing, workspaces: value } : undefined;
  const isWhole =
    isWorkspaces(workspaces) &&
    isToolApprovals(tools) &&
    isToolApprovals(clientTools) &&
    isToolApprovals(skills) &&
    isToolApprovals(hosts);
  return isWhole ? { version, workspaces, tools, clientTools, skills, hosts } : undefined;
}

function isWorkspaces(value: unknown): value is ApprovalsFile["workspaces"] {
  return isRecordOf(value, (servers) => isRecordOf(servers, isApproval));
}

function isRecordOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is Record<string, T> {
  return isObject(value) && Object.values(value).every(isItem);
}

function isApproval(value: unknown): value is Approval {
  if (!isObject(value)) return false;
  const { fingerprint, approvedAt, programs, sandbox } = value as Partial<Record<keyof Approval, unknown>>;
  const isKnown = programs === undefined || (Array.isArray(programs) && programs.every(isProgramFiles));
  const isText = sandbox === undefined || typeof sandbox === "string";
  return typeof fingerprint === "string" && typeof approvedAt === "string" && isKnown && isText;
}

function isProgramFiles(value: unknown): value is readonly ProgramFile[] {
  return (
    Array.isArray(value) &&
    value.every((item: unknown) => {
      if (!isObject(item)) return false;
      const { file, digest } = item as Partial<Record<keyof ProgramFile, unknown>>;
      return typeof file === "string" && (digest === undefined || typeof digest === "string");
    })
  );
}

function isToolApprovals(value: unknown): value is readonly ToolApproval[] {
  return Array.isArray(value) && value.every(isToolApproval);
}

function isToolApproval(value: unknown): value is ToolApproval {
  if (!isApproval(value)) return false;
  const approval = value as Partial<Record<keyof ToolApproval, unknown>>;
  const { server, kind, tool, digest, workspace, client, definition } = approval;
  return (
    (kind === undefined || kind === "skill" || kind === "host") &&
    [server, tool, digest].every((text) => typeof text === "string") &&
    [workspace, client, definition].every((text) => text === undefined || typeof text === "string")
  );
}
