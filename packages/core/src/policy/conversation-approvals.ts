/** Approvals that hold for one conversation, each bound to the definition that the user saw. */

/** Approvals of one conversation. */
export interface ConversationApprovals {
  /** Increases with every change. */
  readonly version: () => number;
  /** Increases the version after a change of an approval or an accepted definition that is stored elsewhere. */
  readonly bump: () => void;
  readonly allows: (server: string, tool: string, digest: string) => boolean;
  readonly allowTool: (server: string, tool: string, digest: string) => void;
  /** Approves all current tools of the server, by name. A tool that the server adds later asks once. */
  readonly allowServer: (server: string, digests: ReadonlyMap<string, string>) => void;
  /** Whether the server added the tool after all its tools were approved, and the tool is unchanged since. */
  readonly isNewOfWhole: (server: string, tool: string) => boolean;
  /** The definition of the tool has changed, so the tool no longer counts as new. */
  readonly notNew: (server: string, tool: string) => void;
  /** Approves a model's reads of all resources of the server, as long as the server's entry is unchanged. */
  readonly allowReads: (server: string, fingerprint: string) => void;
  readonly allowsReads: (server: string, fingerprint: string) => boolean;
}

/** Creates an empty set of approvals. */
export function createConversationApprovals(): ConversationApprovals {
  // Nested maps: joined as text, "a.b" with "c" would equal "a" with "b.c".
  const tools = new Map<string, Map<string, string>>();
  /** Servers whose tools are all approved, each with the names of the tools that do not count as new. */
  const whole = new Map<string, Set<string>>();
  const reads = new Map<string, string>();
  let version = 0;
  const bump = (): void => {
    version += 1;
  };

  function allowTool(server: string, tool: string, digest: string): void {
    bump();
    tools.set(server, (tools.get(server) ?? new Map()).set(tool, digest));
  }

  return {
    version: () => version,
    bump,
    allows: (server, tool, digest) => tools.get(server)?.get(tool) === digest,
    allowTool,
    allowServer(server, digests) {
      whole.set(server, new Set([...(whole.get(server) ?? []), ...digests.keys()]));
      for (const [tool, digest] of digests) allowTool(server, tool, digest);
    },
    isNewOfWhole: (server, tool) => whole.get(server)?.has(tool) === false,
    notNew: (server, tool) => void whole.get(server)?.add(tool),
    allowReads(server, fingerprint) {
      bump();
      reads.set(server, fingerprint);
    },
    allowsReads: (server, fingerprint) => reads.get(server) === fingerprint,
  };
}
