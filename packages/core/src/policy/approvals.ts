/** The saved approvals: the user's answers "always and save", in a file of the state folder. */

import { HostError } from "../errors.ts";
import { checkWritable } from "../files/atomic/private-folder.ts";
import type { CatalogTool } from "../server/catalog.ts";
import { definitionDigest, definitionOf } from "../server/tool-changes.ts";
import type { Problem } from "../settings/define/definition.ts";
import type { Skill } from "../skills/skill.ts";
import { readApprovalsFile, type ToolApproval, updateApprovalsFile } from "../trust/approvals.ts";

export type { ToolApproval } from "../trust/approvals.ts";

/**
 * The server that an approval belongs to: its name, the fingerprint of its definition in the settings, and the folder
 * that the approval is bound to.
 */
export interface ServerIdentity {
  readonly server: string;
  readonly fingerprint: string;
  /** The folder in which the approval counts. Absent if the server is the same in every folder. */
  readonly workspace?: string;
}

/** A host that a server may reach from its sandbox, as `name:port`. */
export interface ApprovedHost {
  readonly host: string;
}

/** What an approval is bound to: a tool's definition, or the entry of a skill with the digests of all its files. */
export type ApprovedDefinition = CatalogTool | Skill;

type Approved = ApprovedDefinition | ApprovedHost;

/** Whether the definition is the entry of a skill. */
export function isSkillEntry(definition: ApprovedDefinition): definition is Skill {
  return !("inputSchema" in definition);
}

function isHost(approved: Approved): approved is ApprovedHost {
  return "host" in approved && !("inputSchema" in approved) && !("uri" in approved);
}

/** SHA-256 of a tool's definition or a skill's entry. Undefined for a skill with dynamic files. */
export function approvedDigest(definition: ApprovedDefinition): string | undefined {
  return isSkillEntry(definition) ? definition.digest : definitionDigest(definition);
}

/** The server and, if the approval covers the requests of one gateway client only, the name of this client. */
interface ApprovedFor extends ServerIdentity {
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

/** Where the saved approvals of a host's user are kept. Default: a file of the state folder. */
export interface ToolApprovalStore {
  /** All approvals, newest first. */
  read(): Promise<readonly ToolApproval[]>;
  /** Saves an approval. It replaces an earlier approval of the same tool. */
  save(approval: ToolApproval): Promise<void>;
  /** Removes an approval. Does nothing if there is none. */
  remove(approval: ToolApproval): Promise<void>;
  canSave(): Promise<boolean>;
  /**
   * Increases when what `read` returns, or the user's accepted definitions, may have changed elsewhere. Absent: the host
   * notices changes of the file itself.
   */
  readonly version?: number;
  /** Looks for changes, if the last look was too long ago. The next decision waits for the promise. */
  readonly follow?: () => Promise<void> | undefined;
}

/** The approvals in the file of a state folder. */
function fileApprovals(state: string): ToolApprovalStore {
  return {
    read: () => readToolApprovals(state),
    save: (approval) =>
      updateToolApprovals(state, (all) =>
        bounded([approval, ...all.filter((other) => !isFor(other, approval, approval.tool, approval.kind))]),
      ),
    remove: (approval) => forgetToolApproval(state, approval, approval.tool, approval.kind),
    canSave: () =>
      checkWritable(state).then(
        () => true,
        () => false,
      ),
  };
}

/**
 * Saves an approval in the file of a state folder. It replaces an earlier approval of the same tool.
 *
 * @throws HostError `too_large`, or `internal` if the file cannot be written
 */
export async function saveToolApproval(
  state: string,
  identity: ApprovedFor,
  approved: Approved,
  now: Date,
): Promise<ToolApproval> {
  const approval = toApproval(identity, approved, now);
  await fileApprovals(state).save(approval);
  return approval;
}

/** @throws HostError `too_large` */
function toApproval(identity: ApprovedFor, approved: Approved, now: Date): ToolApproval {
  const { name, kind } = subjectOf(approved);
  // The accepted entry of a skill is kept with the server's skills.
  const definition = isHost(approved) || isSkillEntry(approved) ? undefined : definitionOf(approved);
  const isShort = definition !== undefined && Buffer.byteLength(definition) <= longestDefinition;
  const approval: ToolApproval = {
    ...identity,
    kind,
    tool: name,
    digest: isHost(approved) ? "" : (approvedDigest(approved) ?? ""),
    approvedAt: now.toISOString(),
    definition: isShort ? definition : undefined,
  };
  if (sizeOf(approval) > mostBytes)
    throw new HostError("too_large", `the approval of ${name.slice(0, 200)} is too large to be saved`);
  return approval;
}

/** Removes the saved approval of this tool. Does nothing if there is none. */
export async function forgetToolApproval(
  state: string,
  identity: ApprovedFor,
  tool: string,
  kind?: ToolApproval["kind"],
): Promise<void> {
  await updateToolApprovals(state, (all) => all.filter((approval) => !isFor(approval, identity, tool, kind)));
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

/** The name of an approval: that of the tool or host, or the URI of the skill. */
function subjectOf(approved: Approved): { readonly name: string; readonly kind?: ToolApproval["kind"] } {
  if (isHost(approved)) return { name: approved.host, kind: "host" };
  return isSkillEntry(approved) ? { name: approved.uri, kind: "skill" } : { name: approved.name };
}

/** All approvals, newest first. */
function toolApprovals(file: Awaited<ReturnType<typeof readApprovalsFile>>): readonly ToolApproval[] {
  const { tools, clientTools, skills, hosts } = file;
  if (clientTools.length === 0 && skills.length === 0 && hosts.length === 0) return tools;
  return [...tools, ...clientTools, ...skills, ...hosts].toSorted((one, other) =>
    other.approvedAt.localeCompare(one.approvedAt),
  );
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
      tools: changed.filter(({ client, kind }) => client === undefined && kind === undefined),
      clientTools: changed.filter(({ client, kind }) => client !== undefined && kind === undefined),
      skills: changed.filter(({ kind }) => kind === "skill"),
      hosts: changed.filter(({ kind }) => kind === "host"),
    };
  });
}

/**
 * Whether an approval is for this tool of this server and for this client. If the server's definition or workspace has
 * changed, it counts as a different server.
 */
function isFor(
  approval: ToolApproval,
  { server, fingerprint, workspace, client }: ApprovedFor,
  tool: string,
  kind?: ToolApproval["kind"],
): boolean {
  return (
    approval.kind === kind &&
    approval.server === server &&
    approval.tool === tool &&
    approval.fingerprint === fingerprint &&
    approval.workspace === workspace &&
    approval.client === client
  );
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

/** The saved approvals of all servers, in memory and on disk. */
export interface ApprovedTools {
  readonly problems: readonly Problem[];
  /**
   * Whether an approval for this server can be saved. The server must be known, and the state folder must be writable.
   */
  readonly canSave: (server: string) => boolean;
  /**
   * The approval of the tool or skill, given for the server's current definition in the settings: for this gateway client, or
   * without `client`, for all senders. The tool's own definition may have changed since.
   */
  readonly find: (
    server: string,
    tool: string,
    client?: string,
    kind?: ToolApproval["kind"],
  ) => ToolApproval | undefined;
  /** The approvals for all configured servers, newest first. Leaves out those for earlier definitions of a server. */
  readonly all: () => readonly ToolApproval[];
  /** Saves an approval: for the requests of this gateway client, or without `client`, of all senders. */
  readonly save: (server: string, approved: Approved, client?: string) => Promise<void>;
  /**
   * Removes the approvals of earlier definitions of this tool. Call it when the user has accepted the current
   * definition.
   */
  readonly forgetOthers: (server: string, accepted: ApprovedDefinition) => Promise<void>;
}

/**
 * Loads the saved approvals. If the file cannot be read, there are no approvals, and `problems` contains the reason.
 */
export async function loadApprovedTools({
  state,
  store = fileApprovals(state),
  identityOf,
  now,
}: {
  /** The folder of Fairlead's state files. */
  readonly state: string;
  readonly store?: ToolApprovalStore | undefined;
  /** The server as the settings define it now. Undefined for an unknown server. */
  readonly identityOf: (server: string) => ServerIdentity | undefined;
  readonly now: () => Date;
}): Promise<ApprovedTools> {
  const problems: Problem[] = [];
  let approvals: readonly ToolApproval[] = await store.read().catch((error: unknown) => {
    problems.push(unread(error));
    return [];
  });
  // If approvals cannot be written, Fairlead does not offer the answer "always and save".
  const canKeep = problems.length === 0 && (await store.canSave());

  function ownerOf(server: string, client: string | undefined): ApprovedFor | undefined {
    const identity = identityOf(server);
    return identity && client !== undefined ? { ...identity, client } : identity;
  }

  function find(server: string, tool: string, client?: string, kind?: ToolApproval["kind"]): ToolApproval | undefined {
    const owner = ownerOf(server, client);
    return owner && approvals.find((approval) => isFor(approval, owner, tool, kind));
  }

  /** Whether an approval is the newest one for a server as the settings define it now. */
  function isCurrent(approval: ToolApproval): boolean {
    const { server, tool, kind, client } = approval;
    return find(server, tool, client, kind) === approval;
  }

  return {
    problems,
    canSave: (server) => canKeep && identityOf(server) !== undefined,

    find,

    all: () => approvals.filter((approval) => isCurrent(approval)),

    async save(server, approved, client) {
      const owner = ownerOf(server, client);
      if (owner === undefined) return;
      const { name, kind } = subjectOf(approved);
      const approval = toApproval(owner, approved, now());
      await store.save(approval);
      approvals = [approval, ...approvals.filter((other) => !isFor(other, owner, name, kind))];
    },

    async forgetOthers(server, accepted) {
      const { name, kind } = subjectOf(accepted);
      const outdated = approvals.filter(
        (approval) =>
          approval.server === server &&
          approval.tool === name &&
          approval.kind === kind &&
          isCurrent(approval) &&
          approval.digest !== approvedDigest(accepted),
      );
      approvals = approvals.filter((approval) => !outdated.includes(approval));
      for (const approval of outdated) await store.remove(approval);
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
    next,
  };
}
