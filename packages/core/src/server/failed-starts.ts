/**
 * Records servers that could not be connected. For some time, commands then skip such a server, because connecting to
 * an unreachable server takes long.
 */

import { join } from "node:path";
import { isObject } from "@fairlead/wire/json";
import type { ErrorCode } from "../errors.ts";
import { readState, updateState } from "../files/atomic/state-file.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";

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

/** Whether a server with this error is skipped for some time. */
export function isFailedStart(reason: string): boolean {
  return counted.has(reason);
}

/** The failed starts of all servers, in `failed-starts.json` of the state folder. */
export class FailedStarts {
  readonly #file: string;
  readonly #keyOf: (definition: ServerDefinition) => Promise<string>;
  readonly #now: () => number;
  /** Servers that work now. Their recorded failures must be deleted. */
  #worked: ServerDefinition[] = [];
  #saving: Promise<unknown> = Promise.resolve();

  /** @param keyOf Identifies a server by its definition and the values of its variables. */
  constructor(state: string, keyOf: (definition: ServerDefinition) => Promise<string>, now: () => number) {
    this.#file = join(state, "failed-starts.json");
    this.#keyOf = keyOf;
    this.#now = now;
  }

  worked(definition: ServerDefinition): void {
    this.#worked.push(definition);
  }

  failed(definition: ServerDefinition, message: string): void {
    const failedAt = this.#now();
    void this.flush();
    this.#save(() =>
      this.#change(definition, (before) => ({ failures: (before?.failures ?? 0) + 1, failedAt, message })),
    );
  }

  /** The servers whose next attempt is in the future. */
  async waiting(definitions: readonly ServerDefinition[]): Promise<readonly FailedStart[]> {
    await this.flush();
    const stored = await this.#read().catch(() => undefined);
    if (stored === undefined || Object.keys(stored).length === 0) return [];
    const found = await Promise.all(
      definitions.map(async (definition) => {
        const key = await this.#keyOf(definition).catch(() => "");
        return { server: definition.name, failed: Object.hasOwn(stored, key) ? stored[key] : undefined };
      }),
    );
    const now = this.#now();
    return found.flatMap(({ server, failed }) => {
      if (failed === undefined) return [];
      const nextTryAt = failed.failedAt + pauseAfter(failed.failures);
      // A failure in the future means that the clock was set back. The server is then not skipped.
      return nextTryAt > now && failed.failedAt <= now ? [{ server, ...failed, nextTryAt }] : [];
    });
  }

  /** Resolves when the state file is up to date. */
  flush(): Promise<unknown> {
    const worked = this.#worked;
    this.#worked = [];
    if (worked.length > 0) this.#save(() => this.#forget(worked));
    return this.#saving;
  }

  async #read(): Promise<StoredFile["servers"] | undefined> {
    return (await readState(this.#file, parse))?.servers;
  }

  async #change(definition: ServerDefinition, next: (before: Stored | undefined) => Stored | undefined): Promise<void> {
    const key = await this.#keyOf(definition);
    const before = (await this.#read())?.[key];
    if (before === undefined && next(before) === undefined) return;
    await updateState(this.#file, parse, (value) => {
      const { [key]: earlier, ...others } = value?.servers ?? {};
      const kept = Object.entries(others).filter(([, { failedAt }]) => this.#now() - failedAt < lifetime);
      const stored = next(earlier);
      const servers = [...kept, ...(stored === undefined ? [] : [[key, stored] as const])].slice(-mostServers);
      return { version: 1 as const, servers: Object.fromEntries(servers) };
    });
  }

  async #forget(definitions: readonly ServerDefinition[]): Promise<void> {
    if (Object.keys((await this.#read()) ?? {}).length === 0) return;
    for (const definition of definitions) await this.#change(definition, () => undefined);
  }

  /** Writes the state file. An error is ignored: the next run then tries the server at once. */
  #save(work: () => Promise<void>): void {
    this.#saving = this.#saving.then(work).catch(() => undefined);
  }
}

function pauseAfter(failures: number): number {
  return Math.min(longestPause, firstPause * 2 ** (failures - 1));
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
