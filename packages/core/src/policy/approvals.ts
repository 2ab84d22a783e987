/** The saved approvals: the user's answers "always and save", in a file of the state folder. */

import { HostError } from "../errors.ts";
import { checkWritable } from "../files/atomic/private-folder.ts";
import type { CatalogTool } from "../server/catalog.ts";
import { definitionDigest, definitionOf } from "../server/tool-changes.ts";
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

/** The server and, if the approval covers the requests of one gateway client only, the name of this client. */
export interface ApprovedFor extends ServerIdentity {
  readonly client?: string;
}

/**
 * Maximum bytes of a saved tool definition. A longer one is not saved with its approval, so Fairlead cannot show it
 * later.
 */
const longestDefinition = 16_384;
/**
 * Maximum bytes of all approvals together. A new approval removes the oldest ones if it does not fit. Fairlead asks
 * again about their tools.
 */
const mostBytes = 1_048_576;

/**
 * Reads the saved tool approvals. A corrupt file is moved aside and counts as empty.
 *
 * @throws HostError `internal` if the file cannot be read
 */
export async function readToolApprovals(state: string): Promise<readonly ToolApproval[]> {
  return toolApprovals(await readApprovalsFile(state));
}

/**
 * Saves an approval. It replaces an earlier approval of the same tool.
 *
 * @throws HostError `too_large`, or `internal` if the file cannot be written
 */
export async function saveToolApproval(
  state: string,
  identity: ApprovedFor,
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
  if (sizeOf(approval) > mostBytes)
    throw new HostError("too_large", `the approval of ${tool.name.slice(0, 200)} is too large to be saved`);
  await updateToolApprovals(state, (all) =>
    bounded([approval, ...all.filter((other) => !isFor(other, identity, tool.name))]),
  );
  return approval;
}

/** Removes the saved approval of this tool. Does nothing if there is none. */
export async function forgetToolApproval(state: string, identity: ApprovedFor, tool: string): Promise<void> {
  await updateToolApprovals(state, (all) => all.filter((approval) => !isFor(approval, identity, tool)));
}

/**
 * Removes all saved approvals of this tool, also those for earlier definitions of the server or for other workspaces.
 * With `client`, removes the approvals for this gateway client, otherwise those for all senders. Returns how many were
 * removed.
 */
export async function forgetApprovalsNamed(
  state: string,
  server: string,
  tool: string,
  client?: string,
): Promise<number> {
  let removed = 0;
  await updateToolApprovals(state, (all) => {
    const left = all.filter(
      (approval) => approval.server !== server || approval.tool !== tool || approval.client !== client,
    );
    removed = all.length - left.length;
    return left;
  });
  return removed;
}

/** All approvals, newest first. */
function toolApprovals({ tools, clientTools }: Awaited<ReturnType<typeof readApprovalsFile>>): readonly ToolApproval[] {
  if (clientTools.length === 0) return tools;
  return [...tools, ...clientTools].toSorted((one, other) => other.approvedAt.localeCompare(one.approvedAt));
}

/** Changes the saved approvals under the file's lock. Does not write the file if `change` removes and adds none. */
async function updateToolApprovals(
  state: string,
  change: (all: readonly ToolApproval[]) => readonly ToolApproval[],
): Promise<void> {
  await updateApprovalsFile(state, (file) => {
    const all = toolApprovals(file);
    const changed = change(all);
    if (changed.length === all.length && changed.every((approval, at) => approval === all[at])) return undefined;
    return {
      tools: changed.filter(({ client }) => client === undefined),
      clientTools: changed.filter(({ client }) => client !== undefined),
    };
  });
}

/**
 * Whether an approval is for this tool of this server and for this client. If the server's definition or workspace has
 * changed, it counts as a different server.
 */
export function isFor(
  approval: ToolApproval,
  { server, fingerprint, workspace, client }: ApprovedFor,
  tool: string,
): boolean {
  return (
    approval.server === server &&
    approval.tool === tool &&
    approval.fingerprint === fingerprint &&
    approval.workspace === workspace &&
    approval.client === client
  );
}

/** Whether approvals can be written to disk. If not, Fairlead does not offer the answer "always and save". */
export async function canKeepApprovals(state: string): Promise<boolean> {
  try {
    await readApprovalsFile(state);
    await checkWritable(state);
    return true;
  } catch {
    return false;
  }
}

function bounded(newestFirst: readonly ToolApproval[]): readonly ToolApproval[] {
  let left = mostBytes;
  const end = newestFirst.findIndex((approval) => {
    left -= sizeOf(approval);
    return left < 0;
  });
  return end === -1 ? newestFirst : newestFirst.slice(0, end);
}

function sizeOf(approval: ToolApproval): number {
  return Buffer.byteLength(JSON.stringify(approval));
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
