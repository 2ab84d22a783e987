/** Approvals for one conversation. The approval of a tool is valid only for the definition that the tool had then. */

/** An approval as plain data, so that a resumed conversation can restore it. */
export type GivenApproval =
  | { readonly kind: "tools"; readonly server: string; readonly keys: Readonly<Record<string, string>> }
  /**
   * Approves all tools that the server listed when the user answered. `keys` has a digest for each tool, which changes
   * with the server's or the tool's definition.
   */
  | { readonly kind: "server"; readonly server: string; readonly keys: Readonly<Record<string, string>> }
  | { readonly kind: "reads"; readonly server: string; readonly fingerprint: string };

/** The approvals of one conversation, in memory. */
export interface ConversationApprovals {
  /** A number that increases with every change of the approvals. */
  readonly version: () => number;
  /** Increases `version`. Call it when a saved approval or an accepted definition has changed. */
  readonly bump: () => void;
  /** Whether the tool was approved at any time, with any definition. */
  readonly has: (server: string, tool: string) => boolean;
  readonly allows: (server: string, tool: string, digest: string) => boolean;
  readonly allowTool: (server: string, tool: string, digest: string) => void;
  /**
   * Approves all tools that the server has now, each with its current definition. If the server adds a tool later,
   * Fairlead asks once about that tool.
   */
  readonly allowServer: (server: string, digests: ReadonlyMap<string, string>) => void;
  /**
   * Whether the tool is new. A tool is new if the server added it after the user had approved all tools of the server.
   * A tool whose definition has changed is not new.
   */
  readonly isNewOfWhole: (server: string, tool: string) => boolean;
  /** Records that the definition of the tool has changed, so that the tool no longer counts as new. */
  readonly notNew: (server: string, tool: string) => void;
  /**
   * Lets models read all resources of the server without confirmation. The approval ends when the server's definition
   * in the settings changes.
   */
  readonly allowReads: (server: string, fingerprint: string) => void;
  readonly allowsReads: (server: string, fingerprint: string) => boolean;
  /** All approvals that the user has given so far, in order. */
  readonly given: () => readonly GivenApproval[];
  /**
   * Restores an approval of an earlier run. The approval has no effect if the tool's definition has changed since that
   * run.
   */
  readonly restore: (approval: GivenApproval) => void;
}

/**
 * Maximum number of conversations of gateway clients whose approvals are kept. If there are more, the oldest one loses
 * its approvals, and Fairlead asks again.
 */
const mostConversations = 1000;

/**
 * Returns a function that finds the approvals of a client's conversation by id. Without an id, it returns `own`, which
 * is for the user and this host's models.
 */
export function createApprovalsOf(own: ConversationApprovals): (id: string | undefined) => ConversationApprovals {
  const byConversation = new Map<string, ConversationApprovals>();
  return (id) => {
    if (id === undefined) return own;
    const existing = byConversation.get(id);
    if (existing !== undefined) return existing;
    const [oldest] = byConversation.keys();
    if (oldest !== undefined && byConversation.size >= mostConversations) byConversation.delete(oldest);
    const made = createConversationApprovals();
    byConversation.set(id, made);
    return made;
  };
}

/** Creates an empty set of approvals, for a new conversation. */
export function createConversationApprovals(): ConversationApprovals {
  // Nested maps, because a joined key would be ambiguous: server "a.b" with tool "c", or server "a" with tool "b.c".
  const tools = new Map<string, Map<string, string>>();
  /** For each server whose tools were all approved, the names of the tools that the server had at that time. */
  const whole = new Map<string, Set<string>>();
  const reads = new Map<string, string>();
  const given: GivenApproval[] = [];
  let version = 0;
  const bump = (): void => {
    version += 1;
  };

  function take(approval: GivenApproval): void {
    bump();
    given.push(approval);
    const { kind, server } = approval;
    if (kind === "reads") reads.set(server, approval.fingerprint);
    else {
      const keys = Object.entries(approval.keys);
      tools.set(server, new Map([...(tools.get(server) ?? []), ...keys]));
      if (kind === "server") whole.set(server, new Set([...(whole.get(server) ?? []), ...keys.map(([tool]) => tool)]));
    }
  }

  return {
    version: () => version,
    bump,
    has: (server, tool) => tools.get(server)?.has(tool) === true,
    allows: (server, tool, digest) => tools.get(server)?.get(tool) === digest,
    allowTool: (server, tool, digest) => take({ kind: "tools", server, keys: Object.fromEntries([[tool, digest]]) }),
    allowServer: (server, digests) => take({ kind: "server", server, keys: Object.fromEntries(digests) }),
    isNewOfWhole: (server, tool) => whole.get(server)?.has(tool) === false,
    notNew: (server, tool) => void whole.get(server)?.add(tool),
    allowReads: (server, fingerprint) => take({ kind: "reads", server, fingerprint }),
    allowsReads: (server, fingerprint) => reads.get(server) === fingerprint,
    given: () => given,
    restore(approval) {
      const text = JSON.stringify(approval);
      if (!given.some((each) => JSON.stringify(each) === text)) take(approval);
    },
  };
}
