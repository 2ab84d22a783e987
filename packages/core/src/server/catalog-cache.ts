/**
 * The catalog cache of a host: finds the files of one server by its definition, the values of its variables and the
 * account, and reads and writes them (`catalog-store.ts`, `accepted-definitions.ts`).
 */

import { join } from "node:path";
import { HostError } from "../errors.ts";
import { checkWritable } from "../files/atomic/private-folder.ts";
import { once } from "../files/once.ts";
import { explain } from "../files/system-error.ts";
import { optionOrigin, type ServerDefinition, typedOrigin } from "../settings/define/definition.ts";
import { expandTransport, withoutCommands } from "../settings/define/expand.ts";
import { present } from "../settings/schema/present.ts";
import {
  type AcceptedDefinitionPort,
  type AcceptedDefinitions,
  AcceptedDefinitionsStore,
  type DefinitionOwner,
} from "./accepted-definitions.ts";
import type { CachedCatalog } from "./catalog-store.ts";

/** State folder, secrets and accounts that the cache uses. */
export interface CatalogCacheOptions {
  /** The folder of Fairlead's state files. */
  readonly state: string;
  readonly secret: (name: string) => Promise<string | undefined>;
  /**
   * The account that is signed in to the server. It is part of the cache key, because another account may see other
   * tools.
   */
  readonly accountAt?: (definition: ServerDefinition, serverUrl: string) => Promise<string | undefined>;
  /** Where accepted definitions are kept. Default: files of the state folder. */
  readonly acceptedDefinitions?: AcceptedDefinitionPort | undefined;
}

/** Reads and writes the catalog cache. Reads nothing from disk until it is used. */
export class CatalogCache {
  readonly #options: CatalogCacheOptions;
  /** The folder of the cached catalogs. */
  readonly #catalogFolder: string;
  /** The folder of the accepted definitions. */
  readonly #acceptedFolder: string;
  readonly #accepted: AcceptedDefinitionPort;

  constructor(options: CatalogCacheOptions) {
    this.#options = options;
    this.#catalogFolder = join(options.state, "catalogs");
    this.#acceptedFolder = join(options.state, "known");
    this.#accepted = options.acceptedDefinitions ?? new AcceptedDefinitionsStore(this.#acceptedFolder);
  }

  readonly #store = once(async () => {
    const { CatalogStore } = await import("./catalog-store.ts");
    return new CatalogStore(this.#catalogFolder);
  });

  readonly #localKey = once(async () => {
    const { localKey } = await import("../files/secrets/local-key.ts");
    return localKey(join(this.#options.state, "catalogs.key"));
  });

  /**
   * The cache key of a server. It depends on the definition, the values of its variables and the signed-in account.
   * Rejects if a variable is not set.
   */
  async keyOf(definition: ServerDefinition): Promise<string> {
    const { catalogKey } = await import("./catalog-store.ts");
    const { secret, accountAt } = this.#options;
    // Reading a cached catalog runs no command. The fingerprint covers the command itself.
    const expanded = await expandTransport(definition, withoutCommands(secret));
    // The user may sign in while the host runs, so the account is read each time.
    const account = expanded.kind === "stdio" ? undefined : await accountAt?.(definition, expanded.url);
    const { fingerprint, approvalFolder: folder } = definition;
    return catalogKey({ fingerprint, expanded, ...present({ account, folder }) }, await this.#localKey());
  }

  /** Returns the cached catalog. Undefined if there is none or it cannot be read. */
  async read(definition: ServerDefinition): Promise<CachedCatalog | undefined> {
    try {
      const store = await this.#store();
      return (await store.isEmpty()) ? undefined : await store.read(await this.keyOf(definition));
    } catch {
      // An error such as an unset variable is ignored here. Connecting to the server reports it.
      return undefined;
    }
  }

  async save(definition: ServerDefinition, catalog: CachedCatalog): Promise<void> {
    const store = await this.#store();
    await store.save(await this.keyOf(definition), catalog);
  }

  /**
   * Whether the cache notes that the server sent a request (such as an elicitation) without saying for which gateway
   * client. False if the key cannot be computed; true if the cache's folder cannot be listed.
   */
  async asksBack(definition: ServerDefinition): Promise<boolean> {
    try {
      const store = await this.#store();
      return !(await store.isEmpty()) && (await store.asksBack(await this.keyOf(definition)));
    } catch {
      return false;
    }
  }

  async noteAsksBack(definition: ServerDefinition): Promise<void> {
    const store = await this.#store();
    await store.noteAsksBack(await this.keyOf(definition));
  }

  /** Returns the digests of the accepted definitions; undefined if they cannot be read. */
  async readAccepted(definition: ServerDefinition): Promise<AcceptedDefinitions | undefined> {
    try {
      const store = this.#accepted;
      const first = firstOwnerOf(definition);
      const own = await store.read(ownerOf(definition));
      return first === undefined ? own : either(own, await store.read(first));
    } catch {
      // The error is ignored here. `addAccepted` reports it.
      return undefined;
    }
  }

  /**
   * Adds digests of accepted definitions, by tool name.
   *
   * @throws HostError `internal` if the state folder cannot be written
   */
  async addAccepted(
    definition: ServerDefinition,
    news: ReadonlyMap<string, readonly string[]>,
  ): Promise<AcceptedDefinitions> {
    try {
      const store = this.#accepted;
      const own = await store.add(ownerOf(definition), news);
      const owner = firstOwnerOf(definition);
      if (owner === undefined) return own;
      const first = await store.read(owner);
      const unlisted = new Map([...news].filter(([tool]) => first.of(tool) === undefined));
      return either(own, unlisted.size === 0 ? first : await store.add(owner, unlisted));
    } catch (error) {
      throw await this.#notSaved(error, this.#acceptedFolder);
    }
  }

  /** Why `addAccepted` would fail; undefined if nothing is known against it. Writes nothing. */
  async whyUnsaved(): Promise<string | undefined> {
    return this.#whyNot(this.#accepted.checkWritable(), this.#acceptedFolder);
  }

  /** Why `save` would fail; undefined if nothing is known against it. Writes nothing. */
  async whyNotKept(): Promise<string | undefined> {
    return this.#whyNot((await this.#store()).checkWritable(), this.#catalogFolder);
  }

  async #whyNot(check: Promise<void>, folder: string): Promise<string | undefined> {
    return check.then(
      () => undefined,
      async (error: unknown) => (await this.#notSaved(error, folder)).message,
    );
  }

  /** Names the state folder, or `folder` in it if only that cannot be written. */
  async #notSaved(error: unknown, folder: string): Promise<HostError> {
    const { state, acceptedDefinitions } = this.#options;
    if (acceptedDefinitions !== undefined && error instanceof HostError && folder === this.#acceptedFolder)
      return error;
    const cause = error instanceof HostError && error.cause instanceof Error ? error.cause : error;
    const problem = await checkWritable(state).then(
      () => `${folder} cannot be written: ${explain(cause)}`,
      (stateProblem: unknown) => `${state} cannot be written: ${explain(stateProblem)}`,
    );
    const message = `the state folder ${problem}`;
    return new HostError("internal", message, { cause: error });
  }
}

/** Identifies the server whose definitions and skills a person accepts. */
export function ownerOf({ name: server, approvalFolder, origin, fingerprint }: ServerDefinition): DefinitionOwner {
  return {
    server,
    ...(approvalFolder !== undefined && { workspace: approvalFolder }),
    /*
     * A server from the command line or `createHost` may have the same name as a different server in an earlier run.
     * The fingerprint tells them apart.
     */
    ...((origin.file === typedOrigin || origin.file === optionOrigin) && { fingerprint }),
  };
}

/**
 * The owner of the definitions that a server of the user's settings had in the first folder that listed them. Present
 * if the entry may run another program in each folder. A folder without an accepted definition of its own compares with
 * these, so that no tool is new only because the folder is.
 */
function firstOwnerOf(definition: ServerDefinition): DefinitionOwner | undefined {
  const { workspace, ...everywhere } = ownerOf(definition);
  return definition.scope === "workspace" || workspace === undefined ? undefined : everywhere;
}

function either(own: AcceptedDefinitions, first: AcceptedDefinitions): AcceptedDefinitions {
  return { of: (tool) => own.of(tool) ?? first.of(tool), isFull: own.isFull };
}
