/**
 * Records servers that could not be connected. For some time, commands then skip such a server, because connecting to
 * an unreachable server takes long.
 */

import { join } from "node:path";
import { isObject } from "@fairlead/wire/json";
import type { ErrorCode } from "../../errors.ts";
import type { ServerState } from "../../events.ts";
import type { ServerDefinition } from "../../settings/define/definition.ts";

/**
 * A server that could not be connected, and the time of its next attempt. `host.start` and requests do not wait for
 * that time.
 */
export interface FailedStart {
  readonly server: string;
  /** The number of consecutive failures. */
  readonly failures: number;
  /** When the last attempt failed, in milliseconds since 1970. `nextTryAt` has the same unit. */
  readonly failedAt: number;
  readonly nextTryAt: number;
  readonly message: string;
}

/** Records failed connection attempts, and says which servers must wait. */
export interface FailedStarts {
  readonly onState: (entry: ServerDefinition | undefined, state: ServerState) => void;
  /** The servers whose next attempt is in the future. */
  readonly waiting: (entries: readonly ServerDefinition[]) => Promise<readonly FailedStart[]>;
  /** Resolves when the state file is up to date. */
  readonly flush: () => Promise<unknown>;
}

/** Options of `createFailedStarts`. */
export interface FailedStartsOptions {
  /** The folder of Fairlead's state files. */
  readonly state: string;
  /** Identifies a server by its definition and the values of its variables. */
  readonly keyOf: (entry: ServerDefinition) => Promise<string>;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
}

interface Stored {
  readonly failures: number;
  readonly failedAt: number;
  readonly message: string;
}

interface StoredFile {
  readonly version: 1;
  readonly servers: Readonly<Record<string, Stored>>;
}

const firstPause = 30_000;
const longestPause = 5 * 60_000;
/** The age in milliseconds at which failures are deleted. */
const lifetime = 60 * 60_000;
const mostServers = 500;

/**
 * Errors after which a server is skipped. `auth_required` is not one of them: such a server answers at once, so trying
 * it costs no time.
 */
const counted: ReadonlySet<string> = new Set<ErrorCode>([
  "command_not_found",
  "server_exited",
  "not_mcp",
  "connect_timeout",
  "unreachable",
  "tls",
  "proxy",
  "http_status",
  "protocol",
  "no_capabilities",
]);

/** Creates the records in `failed-starts.json` of the state folder. */
export function createFailedStarts({ state: folder, keyOf, now }: FailedStartsOptions): FailedStarts {
  const file = join(folder, "failed-starts.json");
  /** Servers that have worked since their last start. A lost connection is not a failed start for them. */
  const hasWorked = new Set<string>();
  /** Servers that work now. Their recorded failures must be deleted. */
  let worked: ServerDefinition[] = [];
  let saving: Promise<unknown> = Promise.resolve();

  async function change(
    entry: ServerDefinition,
    next: (before: Stored | undefined) => Stored | undefined,
  ): Promise<void> {
    const [{ readState, updateState }, key] = await Promise.all([stateFile(), keyOf(entry)]);
    const before = (await readState(file, parse))?.servers[key];
    if (before === undefined && next(before) === undefined) return;
    await updateState(file, parse, (value) => {
      const { [key]: earlier, ...others } = value?.servers ?? {};
      const kept = Object.entries(others).filter(([, { failedAt }]) => now() - failedAt < lifetime);
      const stored = next(earlier);
      const servers = [...kept, ...(stored === undefined ? [] : [[key, stored] as const])].slice(-mostServers);
      return { version: 1 as const, servers: Object.fromEntries(servers) };
    });
  }

  async function forget(entries: readonly ServerDefinition[]): Promise<void> {
    const { readState } = await stateFile();
    const { servers } = (await readState(file, parse)) ?? {};
    if (servers === undefined || Object.keys(servers).length === 0) return;
    for (const entry of entries) await change(entry, () => undefined);
  }

  /** Writes the state file. An error is ignored: the next run then tries the server at once. */
  function save(work: () => Promise<void>): void {
    saving = saving.then(work).catch(() => undefined);
  }

  function flush(): Promise<unknown> {
    const entries = worked;
    worked = [];
    if (entries.length > 0) save(() => forget(entries));
    return saving;
  }

  return {
    onState(entry, state) {
      if (entry === undefined) return;
      const { name } = state;
      if (state.status === "connecting") hasWorked.delete(name);
      if (state.status === "connected" && state.offer && !hasWorked.has(name)) {
        hasWorked.add(name);
        worked.push(entry);
      }
      if (state.status !== "disconnected" || hasWorked.has(name) || !counted.has(state.reason)) return;
      const { message } = state as Extract<ServerState, { readonly message: string }>;
      const failedAt = now();
      void flush();
      save(() => change(entry, (before) => ({ failures: (before?.failures ?? 0) + 1, failedAt, message })));
    },

    async waiting(entries) {
      await flush();
      const { readState } = await stateFile();
      const stored = await readState(file, parse).catch(() => undefined);
      if (stored === undefined || Object.keys(stored.servers).length === 0) return [];
      const found = await Promise.all(
        entries.map(async (entry) => {
          const key = await keyOf(entry).catch(() => "");
          return { server: entry.name, failed: Object.hasOwn(stored.servers, key) ? stored.servers[key] : undefined };
        }),
      );
      return found.flatMap(({ server, failed }) => {
        if (failed === undefined) return [];
        const nextTryAt = failed.failedAt + pauseAfter(failed.failures);
        // A failure in the future means that the clock was set back. The server is then not skipped.
        return nextTryAt > now() && failed.failedAt <= now() ? [{ server, ...failed, nextTryAt }] : [];
      });
    },

    flush,
  };
}

function pauseAfter(failures: number): number {
  return Math.min(longestPause, firstPause * 2 ** (failures - 1));
}

function stateFile(): Promise<typeof import("../../files/atomic/state-file.ts")> {
  return import("../../files/atomic/state-file.ts");
}

function parse(value: unknown): StoredFile | undefined {
  if (!isObject(value)) return undefined;
  const { version, servers } = value as Partial<Record<keyof StoredFile, unknown>>;
  if (version !== 1 || !isObject(servers) || !Object.values(servers).every(isStored)) return undefined;
  return { version, servers: servers as StoredFile["servers"] };
}

function isStored(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { failures, failedAt, message } = value as Partial<Record<keyof Stored, unknown>>;
  return typeof failures === "number" && failures > 0 && typeof failedAt === "number" && typeof message === "string";
}
