/** What a person has said "always" to in this conversation, bound to the definitions that they saw. */

export interface Answers {
  /** Changes with every answer. */
  readonly version: () => number;
  /** An approval or an accepted definition that is kept elsewhere has changed. */
  readonly bump: () => void;
  readonly allows: (server: string, tool: string, digest: string) => boolean;
  readonly allowTool: (server: string, tool: string, digest: string) => void;
  /** Its tools as they are now, by name; those that it comes to have later are asked about once. */
  readonly allowServer: (server: string, digests: ReadonlyMap<string, string>) => void;
  /** One that it came to have later, unchanged since: a yes to it covers it. */
  readonly isNewOfWhole: (server: string, tool: string) => boolean;
  /** It has become another: whatever is answered now, it is no new one any more. */
  readonly notNew: (server: string, tool: string) => void;
  /** A model may read whatever that server has, as long as its entry stays what it is. */
  readonly allowReads: (server: string, fingerprint: string) => void;
  readonly allowsReads: (server: string, fingerprint: string) => boolean;
}

export function createAnswers(): Answers {
  // Never one text of both: "a.b" with "c" must not be "a" with "b.c".
  const tools = new Map<string, Map<string, string>>();
  /** Servers that may always, each with the tools that are not new to it. */
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
