/** Compares the workspace's lock file with its current servers. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { HostError } from "../../errors.ts";
import type { LockedServer, LockFile } from "../../policy/lock/lock-file.ts";
import type { Catalog } from "../../server/catalog.ts";
import type { Difference } from "../../server/tool-changes.ts";
import type { Problem, ServerDefinition } from "../../settings/define/definition.ts";
import type { Configuration } from "../../trust/configuration.ts";
import type { HostNote } from "../types.ts";
import type { LockComparison } from "./changed-definitions.ts";

/** The lock file of a host, compared with the servers' catalogs. */
export interface HostLock extends LockComparison {
  /** One note for each server that differs from the lock file. */
  readonly notes: () => readonly HostNote[];
  readonly problems: readonly Problem[];
}

/** The servers and catalogs to compare with the lock file. */
export interface HostLockOptions {
  readonly configuration: Configuration;
  readonly definition: (server: string) => ServerDefinition | undefined;
  /** Returns the server's catalog, listed or cached. */
  readonly catalog: (server: string) => Catalog | undefined;
}

const nothing: HostLock = {
  digestOf: () => undefined,
  driftOf: () => [],
  promptDriftOf: () => undefined,
  notes: () => [],
  problems: [],
};

/**
 * Loads the lock file of the workspace. If the folder is not trusted, ignores the file. If the file is invalid, all
 * tools of the workspace's servers count as changed.
 */
export async function loadLock(options: HostLockOptions): Promise<HostLock> {
  const { locations, trust } = options.configuration;
  const { lockedDigest, lockPath, readLock } = await import("../../policy/lock/lock-file.ts");
  const file = trust.trusted ? lockPath(locations) : undefined;
  if (file === undefined) return nothing;
  try {
    const lock = await readLock(file);
    return lock === undefined ? nothing : await hold(lock, options, (server, tool) => lockedDigest(lock, server, tool));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return unusable(error, options);
  }
}

function unusable({ message, next }: HostError, { definition }: HostLockOptions): HostLock {
  const drift: readonly Difference[] = [{ member: "mcp.lock", after: message }];
  const driftOf = (server: string): readonly Difference[] =>
    definition(server)?.scope === "workspace" ? drift : nothing.driftOf(server);
  const problem = {
    severity: "error",
    code: "settings_invalid",
    message,
    ...(next !== undefined && { next }),
  } as const;
  return { ...nothing, driftOf, problems: [problem] };
}

async function hold(
  lock: LockFile,
  { configuration, definition, catalog }: HostLockOptions,
  digestOf: LockComparison["digestOf"],
): Promise<HostLock> {
  const [{ hiddenEntryDrift }, { instructionsDigest, promptDigest, promptText }] = await Promise.all([
    import("../../policy/lock/lock-drift.ts"),
    import("../../policy/lock/lock-file.ts"),
  ]);
  const written = await writtenEntries(configuration);
  const entryDrifts = new Map<string, readonly Difference[]>();

  /** Whether the lock file covers a server. It covers only entries of its own workspace. */
  const isLockable = (server: string): boolean => definition(server)?.scope === "workspace";

  function entryDrift(server: string, locked: LockedServer): readonly Difference[] {
    const cachedDrift = entryDrifts.get(server);
    if (cachedDrift) return cachedDrift;
    const entry = written.get(server) ?? lineOf(definition(server));
    const drift = hiddenEntryDrift(locked.entry, entry);
    entryDrifts.set(server, drift);
    return drift;
  }

  function driftOf(server: string): readonly Difference[] {
    if (!isLockable(server)) return [];
    const locked = lock.get(server);
    if (locked === undefined) return [{ member: "mcp.lock", after: "this server is not in the lock file" }];
    const current = catalog(server);
    const isOther = current !== undefined && instructionsDigest(current) !== locked.instructions;
    const instructions = {
      member: "instructions",
      ...(locked.instructions !== undefined && { before: "(different text; the lock file contains only a digest)" }),
      ...(current?.instructions !== undefined && { after: current.instructions }),
    };
    return [...entryDrift(server, locked), ...(isOther ? [instructions] : [])];
  }

  function promptDriftOf(server: string, name: string): readonly Difference[] | undefined {
    const prompt = isLockable(server) ? catalog(server)?.prompts.find((one) => one.name === name) : undefined;
    if (prompt === undefined) return undefined;
    const drift = driftOf(server);
    const isOther = lock.get(server)?.prompts.get(name) !== promptDigest(prompt);
    return isOther || drift.length > 0
      ? [...drift, ...(isOther ? [{ member: "definition", after: promptText(prompt) }] : [])]
      : undefined;
  }

  function notesOf(server: string): readonly HostNote[] {
    const drift = driftOf(server).map(({ member, after = "" }) => (member === "mcp.lock" ? after : member));
    const prompts = (catalog(server)?.prompts ?? []).flatMap(({ name }) =>
      drift.length === 0 && promptDriftOf(server, name) ? [`prompt ${name}`] : [],
    );
    const what = [...drift, ...prompts];
    if (what.length === 0) return [];
    return [{ server, message: `differs from the lock file: ${what.join(", ")}; details: fairlead lock verify` }];
  }

  return {
    digestOf: (server, tool) => (isLockable(server) ? digestOf(server, tool) : undefined),
    driftOf,
    promptDriftOf,
    notes: () => configuration.servers.flatMap(({ server }) => notesOf(server.name)),
    problems: [],
  };
}

async function writtenEntries({ locations }: Configuration): Promise<ReadonlyMap<string, JsonObject>> {
  const [{ readSource }, { childNode, entriesOf, plainValueOf }] = await Promise.all([
    import("../../settings/read/source.ts"),
    import("../../settings/read/nodes.ts"),
  ]);
  const file = locations.files.workspace;
  if (file === undefined) return new Map();
  const { root } = await readSource("workspace", file);
  return new Map(
    [...entriesOf(childNode(root, "mcpServers"))].flatMap(([name, { value }]) => {
      const entry = plainValueOf(value);
      return isObject(entry) ? [[name, entry] as const] : [];
    }),
  );
}

/**
 * The settings to compare with the lock file. A server from `mcp.serverCommand` has no entry in `mcpServers`, so this
 * is its command line.
 */
function lineOf(definition: ServerDefinition | undefined): JsonObject {
  const transport = definition?.transport;
  return transport?.kind === "stdio" ? { command: transport.command, args: [...transport.args] } : {};
}
