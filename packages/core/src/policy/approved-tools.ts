/** Finds, saves and removes the approvals of one host. */

import type { CatalogTool } from "../discover/catalog.ts";
import { definitionDigest } from "../discover/tool-changes.ts";
import { HostError } from "../errors.ts";
import type { Problem } from "../settings/define/definition.ts";
import type { ToolApproval } from "../trust/approvals.ts";
import {
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
   * The approval of the tool, given for the server's current definition in the settings. The tool's own definition may
   * have changed since.
   */
  readonly find: (server: string, tool: string) => ToolApproval | undefined;
  /** The approvals for all configured servers. Leaves out approvals for earlier definitions of a server. */
  readonly all: () => readonly ToolApproval[];
  readonly save: (server: string, tool: CatalogTool) => Promise<void>;
  /**
   * Removes the approval of an earlier definition of this tool. Call it when the user has accepted the current
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

  function without(identity: ServerIdentity, tool: string): readonly ToolApproval[] {
    return approvals.filter((approval) => !isFor(approval, identity, tool));
  }

  function find(server: string, tool: string): ToolApproval | undefined {
    const identity = identityOf(server);
    return identity && approvals.find((approval) => isFor(approval, identity, tool));
  }

  return {
    problems,
    canSave: (server) => canKeep && identityOf(server) !== undefined,

    find,

    all: () => approvals.filter((approval) => find(approval.server, approval.tool) === approval),

    async save(server, tool) {
      const identity = identityOf(server);
      if (identity === undefined) return;
      const approval = await saveToolApproval(state, identity, tool, now());
      approvals = [approval, ...without(identity, tool.name)];
    },

    async forgetOthers(server, tool) {
      const identity = identityOf(server);
      const approval = find(server, tool.name);
      if (identity === undefined || approval === undefined || approval.digest === definitionDigest(tool)) return;
      approvals = without(identity, tool.name);
      await forgetToolApproval(state, identity, tool.name);
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
