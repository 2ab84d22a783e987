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
export class ConversationApprovals {
  // Nested maps, because a joined key would be ambiguous: server "a.b" with tool "c", or server "a" with tool "b.c".
  readonly #tools = new Map<string, Map<string, string>>();
  /** For each server whose tools were all approved, the names of the tools that the server had at that time. */
  readonly #whole = new Map<string, Set<string>>();
  readonly #reads = new Map<string, string>();
  readonly #given: GivenApproval[] = [];
  #version = 0;

  /** A number that increases with every change of the approvals. */
  version(): number {
    return this.#version;
  }

  /** Increases `version`. Call it when a saved approval or an accepted definition has changed. */
  bump(): void {
    this.#version += 1;
  }

  /** Whether the tool was approved at any time, with any definition. */
  has(server: string, tool: string): boolean {
    return this.#tools.get(server)?.has(tool) === true;
  }

  allows(server: string, tool: string, digest: string): boolean {
    return this.#tools.get(server)?.get(tool) === digest;
  }

  allowTool(server: string, tool: string, digest: string): void {
    this.#take({ kind: "tools", server, keys: Object.fromEntries([[tool, digest]]) });
  }

  /**
   * Approves all tools that the server has now, each with its current definition. If the server adds a tool later,
   * Fairlead asks once about that tool.
   */
  allowServer(server: string, digests: ReadonlyMap<string, string>): void {
    this.#take({ kind: "server", server, keys: Object.fromEntries(digests) });
  }

  /**
   * Whether the tool is new. A tool is new if the server added it after the user had approved all tools of the server.
   * A tool whose definition has changed is not new.
   */
  isNewOfWhole(server: string, tool: string): boolean {
    return this.#whole.get(server)?.has(tool) === false;
  }

  /** Records that the definition of the tool has changed, so that the tool no longer counts as new. */
  notNew(server: string, tool: string): void {
    this.#whole.get(server)?.add(tool);
  }

  /**
   * Lets models read all resources of the server without confirmation. The approval ends when the server's definition
   * in the settings changes.
   */
  allowReads(server: string, fingerprint: string): void {
    this.#take({ kind: "reads", server, fingerprint });
  }

  allowsReads(server: string, fingerprint: string): boolean {
    return this.#reads.get(server) === fingerprint;
  }

  /** All approvals that the user has given so far, in order. */
  given(): readonly GivenApproval[] {
    return this.#given;
  }

  /**
   * Restores an approval of an earlier run. The approval has no effect if the tool's definition has changed since that
   * run.
   */
  restore(approval: GivenApproval): void {
    const text = JSON.stringify(approval);
    if (!this.#given.some((each) => JSON.stringify(each) === text)) this.#take(approval);
  }

  #take(approval: GivenApproval): void {
    this.bump();
    this.#given.push(approval);
    const { kind, server } = approval;
    if (kind === "reads") {
      this.#reads.set(server, approval.fingerprint);
      return;
    }
    const keys = Object.entries(approval.keys);
    this.#tools.set(server, new Map([...(this.#tools.get(server) ?? []), ...keys]));
    if (kind === "server")
      this.#whole.set(server, new Set([...(this.#whole.get(server) ?? []), ...keys.map(([tool]) => tool)]));
  }
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
    const made = new ConversationApprovals();
    byConversation.set(id, made);
    return made;
  };
}
