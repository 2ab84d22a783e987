/** Reads and writes `approvals.json`: the user's permanent approvals of workspace servers and of tools. */

import { join } from "node:path";
import { isObject } from "@fairlead/wire/json";
import { readState, updateState } from "../files/atomic/state-file.ts";

/** The approval of one workspace server, valid for exactly this definition. */
export interface Approval {
  readonly fingerprint: string;
  /** ISO 8601. */
  readonly approvedAt: string;
}

/** The approval of one tool, valid for exactly this definition and server entry. */
export interface ToolApproval extends Approval {
  readonly server: string;
  readonly tool: string;
  /** Digest of the tool's definition. */
  readonly digest: string;
  /** The workspace root of a workspace entry, because the same entry may run another program elsewhere. */
  readonly workspace?: string;
  /** The approved definition as JSON, to show what has changed; absent if it is too long. */
  readonly definition?: string;
}

/** The content of the file. */
export interface ApprovalsFile {
  readonly version: 2;
  readonly workspaces: Readonly<Record<string, Readonly<Record<string, Approval>>>>;
  readonly tools: readonly ToolApproval[];
}

const nothing: ApprovalsFile = { version: 2, workspaces: {}, tools: [] };

export async function readApprovalsFile(state: string): Promise<ApprovalsFile> {
  return (await readState(approvalsPath(state), parse)) ?? nothing;
}

/** Changes the file under its lock. `change` returns undefined to change nothing and may be called more than once. */
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

/** Reads version 1 too, which had only workspaces at the top level. */
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
