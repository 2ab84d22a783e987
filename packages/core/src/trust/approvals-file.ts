/** `approvals.json` among our own state: what the person has approved for good, in two sections that share one file and its lock. */

import { join } from "node:path";
import { isObject } from "@fairlead/wire/json";
import { readState, updateState } from "../files/atomic/state-file.ts";

/** A server of a workspace, exactly as it stood. */
export interface Approval {
  readonly fingerprint: string;
  /** ISO 8601. */
  readonly approvedAt: string;
}

/** A tool that needs no question, exactly as it and its server's entry stood. */
export interface ToolApproval extends Approval {
  readonly server: string;
  readonly tool: string;
  /** Of the tool's definition. */
  readonly digest: string;
  /** The root, if the entry is a workspace's: elsewhere the same entry may run another program. */
  readonly workspace?: string;
  /** What was approved, as JSON, unless that is too long: shown beside what it becomes. */
  readonly definition?: string;
}

/** As it lies on disk. */
export interface ApprovalsFile {
  readonly version: 2;
  readonly workspaces: Readonly<Record<string, Readonly<Record<string, Approval>>>>;
  readonly tools: readonly ToolApproval[];
}

const nothing: ApprovalsFile = { version: 2, workspaces: {}, tools: [] };

export async function readApprovalsFile(state: string): Promise<ApprovalsFile> {
  return (await readState(approvalsPath(state), parse)) ?? nothing;
}

/** `change` gives undefined to leave everything as it is; it may be called more than once. */
export async function updateApprovalsFile(
  state: string,
  change: (file: ApprovalsFile) => Partial<ApprovalsFile> | undefined,
): Promise<void> {
  await updateState(approvalsPath(state), parse, (file = nothing) => {
    const changed = change(file);
    return changed && { ...file, ...changed };
  });
}

export function approvalsPath(state: string): string {
  return join(state, "approvals.json");
}

/** The first version had workspaces only, side by side: none of them was a number. */
function parse(value: unknown): ApprovalsFile | undefined {
  if (!isObject(value)) return undefined;
  const { version, workspaces, tools } = value as Partial<Record<keyof ApprovalsFile, unknown>>;
  if (version !== 2) return isWorkspaces(value) ? { ...nothing, workspaces: value } : undefined;
  return isWorkspaces(workspaces) && Array.isArray(tools) && tools.every(isToolApproval)
    ? { version, workspaces, tools }
    : undefined;
}

function isWorkspaces(value: unknown): value is ApprovalsFile["workspaces"] {
  return isRecordOf(value, (servers) => isRecordOf(servers, isApproval));
}

function isRecordOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is Record<string, T> {
  return isObject(value) && Object.values(value).every(isItem);
}

function isApproval(value: unknown): value is Approval {
  if (!isObject(value)) return false;
  const { fingerprint, approvedAt } = value as Partial<Record<keyof Approval, unknown>>;
  return typeof fingerprint === "string" && typeof approvedAt === "string";
}

function isToolApproval(value: unknown): value is ToolApproval {
  if (!isApproval(value)) return false;
  const { server, tool, digest, workspace, definition } = value as Partial<Record<keyof ToolApproval, unknown>>;
  return (
    [server, tool, digest].every((text) => typeof text === "string") &&
    [workspace, definition].every((text) => text === undefined || typeof text === "string")
  );
}
