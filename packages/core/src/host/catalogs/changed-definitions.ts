/**
 * Finds tools whose definition differs from the accepted one. Such a tool runs only after the user has accepted the
 * change.
 */

import type { ToolDefinitions, ToolIdentity } from "../../policy/decide.ts";
import { type AcceptedDefinitions, withDigests } from "../../server/accepted-definitions.ts";
import type { CatalogTool } from "../../server/catalog.ts";
import { type Difference, definitionDigest, definitionOf, differenceOf } from "../../server/tool-changes.ts";
import { createTurns } from "../../text/turns.ts";

/** A definition that the user approved. `tool` is absent if only the digest is stored. */
export interface Accepted {
  readonly digest: string;
  readonly tool?: CatalogTool | undefined;
}

/** Compares the tools that servers list with the accepted definitions and the lock file. */
export interface ChangedDefinitions extends ToolDefinitions {
  /** Sets the lock file to compare with. A definition that differs from it counts as changed. */
  readonly lock: (drift: LockComparison) => void;
  /** Sets the accepted definitions from earlier runs. Call it before `recall` and `see`. */
  readonly setAccepted: (server: string, accepted: AcceptedDefinitions) => void;
  /**
   * Adds the tools of a cached catalog. `accepted` has the accepted definitions of tools that had changed or were
   * missing when the catalog was saved.
   */
  readonly recall: (server: string, tools: readonly CatalogTool[], accepted: readonly CatalogTool[]) => void;
  /**
   * Sets why the server's accepted definitions cannot be saved; undefined if they can. With a reason, every new tool
   * counts as changed.
   */
  readonly setUnsaved: (server: string, reason: string | undefined) => void;
  /**
   * Adds the tools that the server lists now. A tool without an accepted definition is new and not changed, unless the
   * store of accepted definitions is full.
   */
  readonly see: (server: string, tools: readonly CatalogTool[]) => void;
  /** Replaces all accepted definitions of the tool by the definition that the user approved. */
  readonly expect: (tool: ToolIdentity, approved: Accepted) => void;
  readonly accept: (tool: ToolIdentity) => void;
  /** Whether an accepted definition or the lock file shows how the tool was defined before. */
  readonly isComparable: (tool: ToolIdentity) => boolean;
  /**
   * Compares all listed tools with the accepted definitions. Pauses in between, because thousands of tools take tens of
   * milliseconds.
   */
  readonly compareListed: (server: string) => Promise<void>;
  /** The accepted definitions of tools that now have another definition or are no longer listed. */
  readonly unaccepted: (server: string) => readonly CatalogTool[];
  /** Digests of definitions that were accepted in this run and are not saved yet, by tool name. */
  readonly news: (server: string) => ReadonlyMap<string, readonly string[]>;
  readonly forget: (server: string) => void;
}

/** Compares a workspace's servers with its lock file. */
export interface LockComparison {
  /**
   * The tool's digest in the lock file. `none` if the lock file contains the server but not this tool. Undefined if the
   * lock file does not contain the server.
   */
  readonly digestOf: (server: string, tool: string) => string | undefined;
  /**
   * How the server itself differs from the lock file, for example in its command. With a difference, all its tools
   * count as changed.
   */
  readonly driftOf: (server: string) => readonly Difference[];
  /** How a prompt differs from the lock file. Undefined if it does not differ, or if its server is not locked. */
  readonly promptDriftOf: (server: string, prompt: string) => readonly Difference[] | undefined;
}

interface AcceptedTool {
  readonly digests: readonly string[];
  /** The accepted definition itself; absent if only its digest is stored. */
  readonly tool?: CatalogTool | undefined;
  /** True if the definition was accepted without asking the user, because the tool was new. */
  readonly isNew?: boolean;
}

interface Seen {
  earlier: AcceptedDefinitions | undefined;
  /** Why accepted definitions cannot be saved. */
  unsaved?: string | undefined;
  readonly accepted: Map<string, AcceptedTool>;
  now: () => ReadonlyMap<string, CatalogTool>;
  /** Whether listed tools without an accepted definition are new. False for tools of a cached catalog. */
  isNew: boolean;
  /** Names of the tools that were already compared with their accepted definitions. Undefined if all were compared. */
  compared: Set<string> | undefined;
  /**
   * Definitions that the user accepted in this run although they differ from the lock file. The key is the tool name,
   * the value identifies the definition.
   */
  readonly unlocked: Map<string, string>;
}

/** The number of tools that are compared without a pause. */
const comparedAtOnce = 500;
/** Maximum number of accepted definitions of changed or missing tools that the cache keeps for one server. */
const mostKept = 1000;

const noLock: LockComparison = { digestOf: () => undefined, driftOf: () => [], promptDriftOf: () => undefined };

/** Creates the object that compares the tools of one host with their accepted definitions. */
export function createChangedDefinitions(first: LockComparison = noLock): ChangedDefinitions {
  let held = first;
  const lock = (): LockComparison => held;
  const servers = new Map<string, Seen>();

  function seenOf(server: string): Seen {
    const existing = servers.get(server);
    if (existing !== undefined) return existing;
    const seen: Seen = {
      earlier: undefined,
      accepted: new Map(),
      now: byName([]),
      isNew: false,
      compared: undefined,
      unlocked: new Map(),
    };
    servers.set(server, seen);
    return seen;
  }

  /** The accepted definition of a tool. One from this run replaces one from an earlier run. */
  function acceptedOf(seen: Seen, name: string): AcceptedTool | undefined {
    meetListed(seen, name);
    const now = seen.accepted.get(name);
    if (now !== undefined) return now;
    const before = seen.earlier?.of(name);
    return before && { digests: before };
  }

  /**
   * Compares a listed tool with its accepted definition. Without an accepted definition, accepts the listed one, unless
   * the store is full.
   */
  function meet(seen: Seen, tool: CatalogTool, isNew: boolean): void {
    const { name } = tool;
    const accepted = acceptedOf(seen, name);
    const digest = definitionDigest(tool);
    if (accepted === undefined && seen.earlier?.isFull !== true)
      seen.accepted.set(name, { digests: [digest], tool, isNew });
    if (accepted?.digests.includes(digest)) seen.accepted.set(name, { ...accepted, tool });
  }

  /** Compares a listed tool with its accepted definition, unless they have been compared before. */
  function meetListed(seen: Seen, name: string): void {
    const tool = seen.compared?.has(name) === false ? seen.now().get(name) : undefined;
    if (tool === undefined) return;
    seen.compared?.add(name);
    meet(seen, tool, seen.isNew);
  }

  /** All accepted definitions. First compares every listed tool that was not compared yet. */
  function allAccepted(seen: Seen): ReadonlyMap<string, AcceptedTool> {
    if (seen.compared !== undefined) for (const name of seen.now().keys()) meetListed(seen, name);
    seen.compared = undefined;
    return seen.accepted;
  }

  function see(server: string, tools: readonly CatalogTool[], isNew: boolean): void {
    const seen = seenOf(server);
    // First accepts the new tools of the previous list. If the next list changes such a tool, it counts as changed.
    allAccepted(seen);
    seen.now = byName(tools);
    seen.isNew = isNew;
    seen.compared = new Set();
  }

  /** Why Fairlead cannot tell whether this definition has changed; undefined if Fairlead can tell. */
  function doubtAbout(server: string, seen: Seen, tool: CatalogTool): string | undefined {
    if (seen.unsaved === undefined || seen.accepted.get(tool.name)?.isNew !== true) return undefined;
    const digest = definitionDigest(tool);
    const isStored = seen.earlier?.of(tool.name)?.includes(digest) ?? false;
    const isLocked = lock().digestOf(server, tool.name) === digest;
    return isStored || isLocked ? undefined : seen.unsaved;
  }

  function isChanged(seen: Seen, tool: CatalogTool): boolean {
    return acceptedOf(seen, tool.name)?.digests.includes(definitionDigest(tool)) !== true;
  }

  /** How a tool differs from its definition in the lock file; undefined if it does not differ. */
  function lockDrift(server: string, tool: CatalogTool): readonly Difference[] | undefined {
    const drift = lock().driftOf(server);
    const expected = lock().digestOf(server, tool.name);
    const isOther = expected !== undefined && expected !== definitionDigest(tool);
    // The lock file has only the tool's digest. So the difference shows the whole new definition.
    return isOther || drift.length > 0 ? [...drift, ...(isOther ? wholeOf(tool) : [])] : undefined;
  }

  function toolOf({ serverName, serverToolName }: ToolIdentity): CatalogTool | undefined {
    return servers.get(serverName)?.now().get(serverToolName);
  }

  return {
    lock(drift) {
      held = drift;
    },
    setAccepted(server, accepted) {
      seenOf(server).earlier = accepted;
    },
    recall(server, tools, accepted) {
      const seen = seenOf(server);
      for (const tool of accepted) meet(seen, tool, false);
      see(server, tools, false);
    },
    setUnsaved(server, reason) {
      seenOf(server).unsaved = reason;
    },
    see: (server, tools) => see(server, tools, true),
    expect({ serverName, serverToolName }, { digest, tool }) {
      const seen = seenOf(serverName);
      meetListed(seen, serverToolName);
      seen.accepted.set(serverToolName, { digests: [digest], tool });
    },
    toolOf,
    toolsOf: (server) => [...(servers.get(server)?.now().values() ?? [])],

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
        const before = acceptedOf(seen, serverToolName)?.tool;
        return {
          difference: () => [...lock().driftOf(serverName), ...(before ? differenceOf(before, tool) : wholeOf(tool))],
        };
      }
      if (drift !== undefined && seen.unlocked.get(serverToolName) !== approvalKeyOf(tool, drift))
        return { difference: () => drift };
      const doubt = doubtAbout(serverName, seen, tool);
      return doubt === undefined ? undefined : { difference: () => [], doubt };
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
      if (drift) seen.unlocked.set(serverToolName, approvalKeyOf(tool, drift));
      const accepted = acceptedOf(seen, serverToolName)?.digests ?? [];
      seen.accepted.set(serverToolName, { digests: withDigests(accepted, [definitionDigest(tool)]), tool });
    },

    isComparable({ serverName, serverToolName }) {
      const isStored = servers.get(serverName)?.earlier?.of(serverToolName) !== undefined;
      return isStored || lock().digestOf(serverName, serverToolName) !== undefined;
    },

    async compareListed(server) {
      const seen = seenOf(server);
      const turns = createTurns(comparedAtOnce);
      for (const name of seen.now().keys()) {
        meetListed(seen, name);
        const next = turns.done(1);
        if (next) await next;
      }
    },

    unaccepted(server) {
      const seen = seenOf(server);
      return [...allAccepted(seen)]
        .flatMap(([name, { tool }]) => {
          const now = seen.now().get(name);
          return tool && (now === undefined || isChanged(seen, now)) ? [tool] : [];
        })
        .slice(-mostKept);
    },

    news(server) {
      const seen = seenOf(server);
      const added = [...allAccepted(seen)].map(([name, { digests: now }]) => {
        const before = seen.earlier?.of(name) ?? [];
        return [name, now.filter((digest) => !before.includes(digest))] as const;
      });
      return new Map(added.filter(([, more]) => more.length > 0));
    },

    forget: (server) => void servers.delete(server),
  };

  function approvalKeyOf(tool: CatalogTool, drift: readonly Difference[]): string {
    return JSON.stringify([definitionDigest(tool), drift]);
  }
}

/** The tools by name. Creates the map only when it is needed: for thousands of tools it takes milliseconds. */
function byName(tools: readonly CatalogTool[]): () => ReadonlyMap<string, CatalogTool> {
  let made: Map<string, CatalogTool> | undefined;
  return () => {
    made ??= new Map(tools.map((tool) => [tool.name, tool]));
    return made;
  };
}

/** Shows the whole definition as new, because there is no earlier definition to compare with. */
function wholeOf(tool: CatalogTool): readonly Difference[] {
  return [{ member: "definition", after: definitionOf(tool) }];
}
