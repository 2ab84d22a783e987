/** Compares the workspace's lock file with its current servers. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import type { LockedServer, LockFile } from "../policy/lock/lock-file.ts";
import { noLock, type ServerLock } from "../server/accepted-tools.ts";
import type { Server } from "../server/server.ts";
import type { Servers } from "../server/servers.ts";
import type { Difference } from "../server/tool-changes.ts";
import type { Problem, ServerDefinition } from "../settings/define/definition.ts";
import { childNode, entriesOf, plainValueOf } from "../settings/read/nodes.ts";
import { readSource } from "../settings/read/source.ts";
import { unknownDifference } from "../skills/skill.ts";
import type { Configuration } from "../trust/configuration.ts";
import type { HostNote } from "./types.ts";

/** The lock file of a host, compared with its servers. */
export interface HostLock {
  readonly of: (server: Server) => ServerLock;
  /** One note for each server that differs from the lock file. */
  readonly notes: () => readonly HostNote[];
  readonly problems: readonly Problem[];
}

const nothing: HostLock = { of: () => noLock, notes: () => [], problems: [] };

/**
 * Loads the lock file of the workspace. If the folder is not trusted, ignores the file. If the file is invalid, all
 * tools of the workspace's servers count as changed.
 */
export async function loadLock(servers: Servers): Promise<HostLock> {
  const { locations, trust } = servers.configuration;
  const { lockPath, readLock } = await import("../policy/lock/lock-file.ts");
  const file = trust.trusted ? lockPath(locations) : undefined;
  if (file === undefined) return nothing;
  try {
    const lock = await readLock(file);
    return lock === undefined ? nothing : await hold(lock, servers);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return unusable(error);
  }
}

/** Whether the lock file covers a server. It covers only entries of its own workspace. */
function isLockable({ definition }: Server): boolean {
  return definition?.scope === "workspace";
}

function unusable({ message, next }: HostError): HostLock {
  const drift: readonly Difference[] = [{ member: "mcp.lock", after: message }];
  const problem = { severity: "error", code: "settings_invalid", message, next } as const;
  return {
    of: (server) => (isLockable(server) ? { ...noLock, drift: () => drift, skillDrift: () => drift } : noLock),
    notes: () => [],
    problems: [problem],
  };
}

async function hold(lock: LockFile, servers: Servers): Promise<HostLock> {
  const [{ hiddenEntryDrift }, { instructionsDigest, lockedDigest, promptDigest, promptText }] = await Promise.all([
    import("../policy/lock/lock-drift.ts"),
    import("../policy/lock/lock-file.ts"),
  ]);
  const { configuration } = servers;
  const written = await writtenEntries(configuration);
  const locks = new WeakMap<Server, ServerLock>();

  function lockOf(server: Server): ServerLock {
    if (!isLockable(server)) return noLock;
    const made = locks.get(server) ?? compare(server, lock.get(server.name));
    locks.set(server, made);
    return made;
  }

  function compare(server: Server, locked: LockedServer | undefined): ServerLock {
    const entry = written.get(server.name) ?? lineOf(server.definition);
    const entryDrift = locked && hiddenEntryDrift(locked.entry, entry);

    function drift(): readonly Difference[] {
      if (locked === undefined || entryDrift === undefined)
        return [{ member: "mcp.lock", after: "this server is not in the lock file" }];
      const current = server.catalog?.catalog;
      const isOther = current !== undefined && instructionsDigest(current) !== locked.instructions;
      const before = locked.instructions && "(different text; the lock file contains only a digest)";
      return [...entryDrift, ...(isOther ? [{ member: "instructions", before, after: current.instructions }] : [])];
    }

    return {
      digestOf: (tool) => lockedDigest(lock, server.name, tool),
      drift,
      promptDrift(name) {
        const prompt = server.catalog?.catalog.prompts.find((one) => one.name === name);
        if (prompt === undefined) return undefined;
        const isOther = locked?.prompts.get(name) !== promptDigest(prompt);
        const all = [...drift(), ...(isOther ? [{ member: "definition", after: promptText(prompt) }] : [])];
        return all.length > 0 ? all : undefined;
      },
      skillDrift(skill) {
        const expected = locked?.skills && (locked.skills.get(skill.uri) ?? "none");
        const isOther = expected !== undefined && expected !== (skill.digest ?? "dynamic");
        const all = [...drift(), ...(isOther ? unknownDifference(expected, skill) : [])];
        return all.length > 0 ? all : undefined;
      },
    };
  }

  function notesOf(server: Server): readonly HostNote[] {
    const { drift, promptDrift, skillDrift } = lockOf(server);
    const members = drift().map(({ member, after = "" }) => (member === "mcp.lock" ? after : member));
    const prompts = (server.catalog?.catalog.prompts ?? []).flatMap(({ name }) =>
      members.length === 0 && promptDrift(name) ? [`prompt ${name}`] : [],
    );
    const skills = (server.catalog?.catalog.skills ?? []).flatMap((skill) =>
      members.length === 0 && skillDrift(skill) ? [`skill ${skill.name}`] : [],
    );
    const what = [...members, ...prompts, ...skills];
    if (what.length === 0) return [];
    const message = `differs from the lock file: ${what.join(", ")}; details: fairlead lock verify`;
    return [{ server: server.name, message }];
  }

  return { of: lockOf, notes: () => servers.all().flatMap(notesOf), problems: [] };
}

async function writtenEntries({ locations }: Configuration): Promise<ReadonlyMap<string, JsonObject>> {
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
