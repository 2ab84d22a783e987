/** Finds, saves and removes the approvals of one host. */

import { HostError } from "../errors.ts";
import type { CatalogTool } from "../server/catalog.ts";
import { definitionDigest } from "../server/tool-changes.ts";
import type { Problem } from "../settings/define/definition.ts";
import type { ToolApproval } from "../trust/approvals.ts";
import {
  type ApprovedFor,
  canKeepApprovals,
  forgetToolApproval,
  isFor,
  readToolApprovals,
  type ServerIdentity,
  saveToolApproval,
} from "./approvals.ts";

/** The saved approvals of all servers, in memory and on disk. */
export interface ApprovedTools {
  readonly problems: readonly Problem[];
  /**
   * Whether an approval for this server can be saved. The server must be known, and the state folder must be writable.
   */
  readonly canSave: (server: string) => boolean;
  /**
   * The approval of the tool, given for the server's current definition in the settings: for this gateway client, or
   * without `client`, for all senders. The tool's own definition may have changed since.
   */
  readonly find: (server: string, tool: string, client?: string) => ToolApproval | undefined;
  /** The approvals for all configured servers, newest first. Leaves out those for earlier definitions of a server. */
  readonly all: () => readonly ToolApproval[];
  /** Saves an approval: for the requests of this gateway client, or without `client`, of all senders. */
  readonly save: (server: string, tool: CatalogTool, client?: string) => Promise<void>;
  /**
   * Removes the approvals of earlier definitions of this tool. Call it when the user has accepted the current
   * definition.
   */
  readonly forgetOthers: (server: string, tool: CatalogTool) => Promise<void>;
}

/** The state folder, and a function that finds a server by name. */
export interface ApprovedToolsOptions {
  /** The folder of Fairlead's state files. */
  readonly state: string;
  /** The server as the settings define it now. Undefined for an unknown server. */
  readonly identityOf: (server: string) => ServerIdentity | undefined;
  readonly now: () => Date;
}

/**
 * Loads the saved approvals. If the file cannot be read, there are no approvals, and `problems` contains the reason.
 */
export async function loadApprovedTools({ state, identityOf, now }: ApprovedToolsOptions): Promise<ApprovedTools> {
  const problems: Problem[] = [];
  let approvals: readonly ToolApproval[] = await readToolApprovals(state).catch((error) => {
    problems.push(unread(error));
    return [];
  });
  const canKeep = problems.length === 0 && (await canKeepApprovals(state));

  function ownerOf(server: string, client: string | undefined): ApprovedFor | undefined {
    const identity = identityOf(server);
    return identity && client !== undefined ? { ...identity, client } : identity;
  }

  function find(server: string, tool: string, client?: string): ToolApproval | undefined {
    const owner = ownerOf(server, client);
    return owner && approvals.find((approval) => isFor(approval, owner, tool));
  }

  /** Whether an approval is the newest one for a server as the settings define it now. */
  function isCurrent(approval: ToolApproval): boolean {
    return find(approval.server, approval.tool, approval.client) === approval;
  }

  return {
    problems,
    canSave: (server) => canKeep && identityOf(server) !== undefined,

    find,

    all: () => approvals.filter((approval) => isCurrent(approval)),

    async save(server, tool, client) {
      const owner = ownerOf(server, client);
      if (owner === undefined) return;
      const approval = await saveToolApproval(state, owner, tool, now());
      approvals = [approval, ...approvals.filter((other) => !isFor(other, owner, tool.name))];
    },

    async forgetOthers(server, tool) {
      const outdated = approvals.filter(
        (approval) =>
          approval.server === server &&
          approval.tool === tool.name &&
          isCurrent(approval) &&
          approval.digest !== definitionDigest(tool),
      );
      approvals = approvals.filter((approval) => !outdated.includes(approval));
      for (const approval of outdated) await forgetToolApproval(state, approval, tool.name);
    },
  };
}

function unread(error: unknown): Problem {
  if (!(error instanceof HostError)) throw error;
  const { message, next } = error;
  return {
    severity: "error",
    code: "settings_invalid",
    message: `${message}; Fairlead will ask again for everything you approved in this file`,
    ...(next !== undefined && { next }),
  };
}
