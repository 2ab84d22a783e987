/** Tools that the person has approved for good: each bound to its server's entry and to its definition, as they stood. */

import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import type { CatalogTool } from "../discover/catalog.ts";
import { definitionDigest, definitionOf } from "../discover/tool-changes.ts";
import { readApprovalsFile, type ToolApproval, updateApprovalsFile } from "../trust/approvals-file.ts";

export type { ToolApproval } from "../trust/approvals-file.ts";

/** Whose tool it is. */
export interface ServerIdentity {
  readonly server: string;
  readonly fingerprint: string;
  /** The root, if the entry is a workspace's. */
  readonly workspace?: string;
}

/** Bytes: a longer definition is approved, too, but cannot be shown later. */
const longestDefinition = 16_384;
/** Bytes of all together; what was approved longest ago is forgotten first, and asks again. */
const mostBytes = 1_048_576;

export async function readToolApprovals(state: string): Promise<readonly ToolApproval[]> {
  return (await readApprovalsFile(state)).tools;
}

/** Takes the place of whatever was approved of that tool before. */
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

export async function forgetToolApproval(state: string, identity: ServerIdentity, tool: string): Promise<void> {
  await updateApprovalsFile(state, ({ tools }) => {
    const left = tools.filter((approval) => !isFor(approval, identity, tool));
    return left.length < tools.length ? { tools: left } : undefined;
  });
}

/** With another entry, or in another workspace, it is another server. */
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

/** Whether what is approved could be kept at all: nothing is offered that would be lost. */
export async function canKeepApprovals(state: string): Promise<boolean> {
  try {
    await readApprovalsFile(state);
    await access(await nearestFolder(state), constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folder itself, or the one that it would be made in. */
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

/** What was approved, if it is still known in full. */
export function approvedTool({ definition, digest }: ToolApproval): CatalogTool | undefined {
  if (definition === undefined) return undefined;
  try {
    const tool: unknown = JSON.parse(definition);
    return isTool(tool) && definitionDigest(tool) === digest ? tool : undefined;
  } catch {
    return undefined;
  }
}

/** Whatever then has the right digest is what was hashed. */
function isTool(value: unknown): value is CatalogTool {
  return typeof value === "object" && value !== null && "name" in value && "inputSchema" in value;
}
