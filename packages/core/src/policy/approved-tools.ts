/** Saved approvals as one host knows them: which of them speak now, and new ones. */

import type { CatalogTool } from "../discover/catalog.ts";
import { definitionDigest } from "../discover/tool-changes.ts";
import { HostError } from "../errors.ts";
import type { Problem } from "../settings/define/definition.ts";
import type { ToolApproval } from "../trust/approvals-file.ts";
import {
  canKeepApprovals,
  forgetToolApproval,
  isFor,
  readToolApprovals,
  type ServerIdentity,
  saveToolApproval,
} from "./approvals.ts";

export interface ApprovedTools {
  readonly problems: readonly Problem[];
  /** Whether one more could be kept; without an identity, or a place on the disk, none can. */
  readonly canSave: (server: string) => boolean;
  /** What was approved of that tool of that entry, whatever the tool has become since. */
  readonly find: (server: string, tool: string) => ToolApproval | undefined;
  /** All that were given to servers that there are, as their entries stand. */
  readonly all: () => readonly ToolApproval[];
  readonly save: (server: string, tool: CatalogTool) => Promise<void>;
  /** A person has accepted this definition: what was approved as another is approved no more. */
  readonly forgetOthers: (server: string, tool: CatalogTool) => Promise<void>;
}

export interface ApprovedToolsOptions {
  /** Where the state of ours lives. */
  readonly state: string;
  /** As its entry stands now; undefined for a server that there is not. */
  readonly identityOf: (server: string) => ServerIdentity | undefined;
  readonly today: () => Date;
}

/** Approvals that cannot be read approve nothing, and stop nothing. */
export async function loadApprovedTools({ state, identityOf, today }: ApprovedToolsOptions): Promise<ApprovedTools> {
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
      const approval = await saveToolApproval(state, identity, tool, today());
      approvals = [approval, ...without(identity, tool.name)];
    },

    async forgetOthers(server, tool) {
      const identity = identityOf(server);
      const saved = find(server, tool.name);
      if (identity === undefined || saved === undefined || saved.digest === definitionDigest(tool)) return;
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
    message: `${message}; what you have approved there is asked about again`,
    ...(next !== undefined && { next }),
  };
}
