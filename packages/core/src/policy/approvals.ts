/** The saved approvals: the user's answers "always and save", in a file of the state folder. */

import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import type { CatalogTool } from "../discover/catalog.ts";
import { definitionDigest, definitionOf } from "../discover/tool-changes.ts";
import { readApprovalsFile, type ToolApproval, updateApprovalsFile } from "../trust/approvals.ts";

export type { ToolApproval } from "../trust/approvals.ts";

/**
 * The server that an approval belongs to: its name, the fingerprint of its definition in the settings, and its
 * workspace.
 */
export interface ServerIdentity {
  readonly server: string;
  readonly fingerprint: string;
  /** The workspace root. Absent if the server is not defined in the settings of a workspace. */
  readonly workspace?: string;
}

/**
 * Maximum bytes of a saved tool definition. A longer one is not saved with its approval, so Fairlead cannot show it
 * later.
 */
const longestDefinition = 16_384;
/**
 * Maximum bytes of all approvals together. Beginning with the newest, Fairlead keeps each approval that still fits. It
 * asks again about the tools of the others.
 */
const mostBytes = 1_048_576;

/**
 * Reads the saved tool approvals. A corrupt file is moved aside and counts as empty.
 *
 * @throws HostError `internal` if the file cannot be read
 */
export async function readToolApprovals(state: string): Promise<readonly ToolApproval[]> {
  return (await readApprovalsFile(state)).tools;
}

/** Saves an approval. It replaces an earlier approval of the same tool. */
export async function saveToolApproval(
  state: string,
  identity: ServerIdentity,
  tool: CatalogTool,
  now: Date,
): Promise<ToolApproval> {
  const definition = definitionOf(tool);
  const approval: ToolApproval = {
    ...identity,
    tool: tool.name,
    digest: definitionDigest(tool),
    approvedAt: now.toISOString(),
    ...(Buffer.byteLength(definition) <= longestDefinition && { definition }),
  };
  await updateApprovalsFile(state, ({ tools }) => ({
    tools: bounded([approval, ...tools.filter((other) => !isFor(other, identity, tool.name))]),
  }));
  return approval;
}

/** Removes the saved approval of this tool. Does nothing if there is none. */
export async function forgetToolApproval(state: string, identity: ServerIdentity, tool: string): Promise<void> {
  await updateApprovalsFile(state, ({ tools }) => {
    const left = tools.filter((approval) => !isFor(approval, identity, tool));
    return left.length < tools.length ? { tools: left } : undefined;
  });
}

/**
 * Removes all saved approvals of this tool, also those for earlier definitions of the server or for other workspaces.
 * Returns how many were removed.
 */
export async function forgetApprovalsNamed(state: string, server: string, tool: string): Promise<number> {
  let removed = 0;
  await updateApprovalsFile(state, ({ tools }) => {
    const left = tools.filter((approval) => approval.server !== server || approval.tool !== tool);
    removed = tools.length - left.length;
    return removed > 0 ? { tools: left } : undefined;
  });
  return removed;
}

/**
 * Whether an approval is for this tool of this server. If the server's definition or workspace has changed, it counts
 * as a different server.
 */
export function isFor(
  approval: ToolApproval,
  { server, fingerprint, workspace }: ServerIdentity,
  tool: string,
): boolean {
  return (
    approval.server === server &&
    approval.tool === tool &&
    approval.fingerprint === fingerprint &&
    approval.workspace === workspace
  );
}

/** Whether approvals can be written to disk. If not, Fairlead does not offer the answer "always and save". */
export async function canKeepApprovals(state: string): Promise<boolean> {
  try {
    await readApprovalsFile(state);
    await access(await nearestFolder(state), constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function nearestFolder(folder: string): Promise<string> {
  const parent = dirname(folder);
  const isThere = await access(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      return false;
    },
  );
  return isThere || parent === folder ? folder : nearestFolder(parent);
}

function bounded(newestFirst: readonly ToolApproval[]): readonly ToolApproval[] {
  let left = mostBytes;
  return newestFirst.filter((approval) => {
    const bytes = Buffer.byteLength(JSON.stringify(approval));
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
}

/** The approved definition. Undefined if it was not saved or is damaged. */
export function approvedTool({ definition, digest }: ToolApproval): CatalogTool | undefined {
  if (definition === undefined) return undefined;
  try {
    const tool: unknown = JSON.parse(definition);
    return isTool(tool) && definitionDigest(tool) === digest ? tool : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a saved value is a tool definition. Checks only `name` and `inputSchema`, because the caller compares the
 * digest of the whole definition.
 */
function isTool(value: unknown): value is CatalogTool {
  return typeof value === "object" && value !== null && "name" in value && "inputSchema" in value;
}
