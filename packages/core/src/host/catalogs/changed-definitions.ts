/** Tools whose definition is not one that a person has accepted: they run only after someone has looked again. */

import { type KnownDefinitions, withDigests } from "../../discover/accepted-definitions.ts";
import type { CatalogTool } from "../../discover/catalog.ts";
import { type Difference, definitionDigest, definitionOf, differenceOf } from "../../discover/tool-changes.ts";
import type { Pair, ToolDefinitions } from "../../policy/decide.ts";

/** What a person approved: the digest of it, and itself if that is still known. */
export interface Accepted {
  readonly digest: string;
  readonly tool?: CatalogTool | undefined;
}

export interface ChangedDefinitions extends ToolDefinitions {
  /** The lock file has been read: definitions that differ from it are changed ones. */
  readonly lock: (drift: LockDrift) => void;
  /** Before anything else is said of a server: what a person knows of it from earlier runs. */
  readonly know: (server: string, known: KnownDefinitions) => void;
  /** What an earlier run remembers: what was listed then, and what had been accepted of tools that had become others by then, or were gone. */
  readonly recall: (server: string, tools: readonly CatalogTool[], accepted: readonly CatalogTool[]) => void;
  /** These are what the server has now. What was not known before is new, not changed. */
  readonly see: (server: string, tools: readonly CatalogTool[]) => void;
  /** A person has approved that definition for good: nothing but that is what they know. */
  readonly expect: (tool: Pair, approved: Accepted) => void;
  /** As it is now, a person wants it. */
  readonly accept: (tool: Pair) => void;
  /** To be shown by the runs to come: what was accepted of tools that are others now, or gone. */
  readonly unaccepted: (server: string) => readonly CatalogTool[];
  /** Digests by tool that earlier runs did not know. */
  readonly news: (server: string) => ReadonlyMap<string, readonly string[]>;
  readonly forget: (server: string) => void;
}

/** How the workspace's lock file differs from what there is. */
export interface LockDrift {
  /** The digest that it has of a tool; `none`: the server is locked, without that tool. Undefined: it says nothing of it. */
  readonly digestOf: (server: string, tool: string) => string | undefined;
  /** What of the server as a whole is not as locked: then none of its tools is. */
  readonly driftOf: (server: string) => readonly Difference[];
  /** Undefined: the prompt is as locked, or nothing locks it. */
  readonly promptDriftOf: (server: string, prompt: string) => readonly Difference[] | undefined;
}

interface Known {
  readonly digests: readonly string[];
  /** The one of them that was last seen, if any was. */
  readonly tool?: CatalogTool | undefined;
}

interface Seen {
  earlier: KnownDefinitions | undefined;
  readonly known: Map<string, Known>;
  now: ReadonlyMap<string, CatalogTool>;
  /** What a person said yes to although the lock file has another; for this host. */
  readonly unlocked: Map<string, string>;
}

/** A server that invents new names with every list must not fill the disk. */
const mostKept = 1000;

const noLock: LockDrift = { digestOf: () => undefined, driftOf: () => [], promptDriftOf: () => undefined };

export function createChangedDefinitions(first: LockDrift = noLock): ChangedDefinitions {
  let held = first;
  const lock = (): LockDrift => held;
  const servers = new Map<string, Seen>();

  function seenOf(server: string): Seen {
    const seen = servers.get(server) ?? { earlier: undefined, known: new Map(), now: new Map(), unlocked: new Map() };
    servers.set(server, seen);
    return seen;
  }

  /** What has been said in this run counts before what is known from earlier ones. */
  function knownOf({ known, earlier }: Seen, name: string): Known | undefined {
    const before = earlier?.of(name);
    return known.get(name) ?? (before && { digests: before });
  }

  /** One that comes back as another is no new one. */
  function meet(seen: Seen, tool: CatalogTool): void {
    const { name } = tool;
    const known = knownOf(seen, name);
    const digest = definitionDigest(tool);
    if (known === undefined && seen.earlier?.isFull !== true) seen.known.set(name, { digests: [digest], tool });
    if (known?.digests.includes(digest)) seen.known.set(name, { ...known, tool });
  }

  function see(server: string, tools: readonly CatalogTool[]): void {
    const seen = seenOf(server);
    seen.now = new Map(tools.map((tool) => [tool.name, tool]));
    for (const tool of tools) meet(seen, tool);
  }

  function isChanged(seen: Seen, tool: CatalogTool): boolean {
    return knownOf(seen, tool.name)?.digests.includes(definitionDigest(tool)) !== true;
  }

  /** What makes it another than the locked one; undefined if nothing does. */
  function lockDrift(server: string, tool: CatalogTool): readonly Difference[] | undefined {
    const drift = lock().driftOf(server);
    const expected = lock().digestOf(server, tool.name);
    const isOther = expected !== undefined && expected !== definitionDigest(tool);
    // What the lock file had of a tool is not known, only that it was another.
    return isOther || drift.length > 0 ? [...drift, ...(isOther ? wholeOf(tool) : [])] : undefined;
  }

  function toolOf({ serverName, serverToolName }: Pair): CatalogTool | undefined {
    return servers.get(serverName)?.now.get(serverToolName);
  }

  return {
    lock(drift) {
      held = drift;
    },
    know(server, known) {
      seenOf(server).earlier = known;
    },
    recall(server, tools, accepted) {
      const seen = seenOf(server);
      for (const tool of accepted) meet(seen, tool);
      see(server, tools);
    },
    see,
    expect({ serverName, serverToolName }, { digest, tool }) {
      seenOf(serverName).known.set(serverToolName, { digests: [digest], tool });
    },
    toolOf,
    toolsOf: (server) => [...(servers.get(server)?.now.values() ?? [])],

    isLockedOut(pair) {
      const tool = toolOf(pair);
      return tool !== undefined && lockDrift(pair.serverName, tool) !== undefined;
    },

    changeOf(pair) {
      const { serverName, serverToolName } = pair;
      const tool = toolOf(pair);
      if (tool === undefined) return undefined;
      const seen = seenOf(serverName);
      const drift = lockDrift(serverName, tool);
      if (isChanged(seen, tool)) {
        const before = knownOf(seen, serverToolName)?.tool;
        return {
          difference: () => [...lock().driftOf(serverName), ...(before ? differenceOf(before, tool) : wholeOf(tool))],
        };
      }
      if (drift === undefined || seen.unlocked.get(serverToolName) === sealOf(tool, drift)) return undefined;
      return { difference: () => drift };
    },

    promptChangeOf({ serverName, serverToolName }) {
      const drift = lock().promptDriftOf(serverName, serverToolName);
      return drift && { difference: () => drift };
    },

    accept(pair) {
      const { serverName, serverToolName } = pair;
      const tool = toolOf(pair);
      if (tool === undefined) return;
      const seen = seenOf(serverName);
      const drift = lockDrift(serverName, tool);
      if (drift) seen.unlocked.set(serverToolName, sealOf(tool, drift));
      const known = knownOf(seen, serverToolName)?.digests ?? [];
      seen.known.set(serverToolName, { digests: withDigests(known, [definitionDigest(tool)]), tool });
    },

    unaccepted(server) {
      const seen = seenOf(server);
      return [...seen.known]
        .flatMap(([name, { tool }]) => {
          const now = seen.now.get(name);
          return tool && (now === undefined || isChanged(seen, now)) ? [tool] : [];
        })
        .slice(-mostKept);
    },

    news(server) {
      const { known, earlier } = seenOf(server);
      const added = [...known].map(([name, { digests: now }]) => {
        const before = earlier?.of(name) ?? [];
        return [name, now.filter((digest) => !before.includes(digest))] as const;
      });
      return new Map(added.filter(([, more]) => more.length > 0));
    },

    forget: (server) => void servers.delete(server),
  };

  function sealOf(tool: CatalogTool, drift: readonly Difference[]): string {
    return JSON.stringify([definitionDigest(tool), drift]);
  }
}

/** Without one before, all there is to show is what it is now. */
function wholeOf(tool: CatalogTool): readonly Difference[] {
  return [{ member: "definition", after: definitionOf(tool) }];
}
