/** Stores sign-ins in the system keychain, or in an encrypted file. */

import { join } from "node:path";
import { HostError } from "../../errors.ts";
import {
  aFunction,
  aName,
  anObject,
  aString,
  expectArguments,
  optional,
  readMembers,
  type Wanted,
} from "../../expect-arguments.ts";
import type { SecretStore } from "../../files/secrets/secret-port.ts";
import type { Credentials } from "./credentials.ts";
import { canonicalServerUrl, readCredentials, writeCredentials } from "./stored-credentials.ts";

const prefix = "oauth.";
/** Damaged sign-ins are kept under their name with this prefix. */
const aside = "corrupt.";

const wantedOptions = { state: aName, env: anObject, platform: aName };

/** Accepts credentials that the storage could read again. */
const someCredentials: Wanted = {
  words: "credentials",
  accepts: (given) => anObject.accepts(given) && readCredentials(writeCredentials(given as Credentials)) !== undefined,
};

/** Options of `openTokenStorage`. */
export interface TokenStorageOptions {
  /** The folder for this installation's state. */
  readonly state: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** The stored sign-ins, by server URL. */
export class MCPOAuthTokenStorage {
  readonly #open: () => Promise<SecretStore>;
  readonly #pin: string | undefined;
  readonly #cache = new Map<string, Credentials>();
  readonly #views = new Map<string, MCPOAuthTokenStorage>();
  #store: Promise<SecretStore> | undefined;

  /** @param open Opens the secret store. Called at first use. */
  constructor(open: () => Promise<SecretStore>, pin?: string) {
    expectArguments("new MCPOAuthTokenStorage()", { open: [open, aFunction], pin: [pin, optional(aString)] });
    this.#open = open;
    this.#pin = pin;
  }

  /** Returns this storage, limited to sign-ins with this digest from `pinOf`. */
  pinned(pin: string | undefined): MCPOAuthTokenStorage {
    expectArguments("pinned()", { pin: [pin, optional(aString)] });
    if (pin === undefined) return this;
    const view = this.#views.get(pin) ?? new MCPOAuthTokenStorage(() => this.#secrets(), pin);
    this.#views.set(pin, view);
    return view;
  }

  /** Returns the name under which a server's sign-in is stored. */
  nameOf(serverUrl: string): Promise<string> {
    return secretNameOf(serverUrl, this.#pin);
  }

  /** Returns a server's credentials. Reads the store each time, because another process may have signed in or out. */
  async getCredentials(serverUrl: string): Promise<Credentials | undefined> {
    const url = checkedUrl(serverUrl);
    const found = await this.#read(await this.nameOf(url));
    // The URL and the digest must match, even if the name does.
    const isOwn = found !== undefined && canonicalServerUrl(found.serverUrl) === url && found.pin === this.#pin;
    const credentials = isOwn ? found : undefined;
    this.#updateCache(url, credentials);
    return credentials;
  }

  /** Returns the credentials that this process read or stored last. */
  lastKnown(serverUrl: string): Credentials | undefined {
    return this.#cache.get(checkedUrl(serverUrl));
  }

  /** Stores credentials, with the digest of this storage. */
  async saveCredentials(credentials: Credentials): Promise<void> {
    expectArguments("saveCredentials()", { credentials: [credentials, someCredentials] });
    const { pin: _, ...unpinned } = credentials;
    const url = checkedUrl(credentials.serverUrl);
    const pinned = this.#pin === undefined ? unpinned : { ...unpinned, pin: this.#pin };
    const store = await this.#secrets();
    await store.set(await this.nameOf(url), writeCredentials(pinned));
    this.#updateCache(url, pinned);
  }

  /** Deletes a server's credentials. Returns false if there were none. */
  async deleteCredentials(serverUrl: string): Promise<boolean> {
    const url = checkedUrl(serverUrl);
    const [store, name] = [await this.#secrets(), await this.nameOf(url)];
    this.#updateCache(url, undefined);
    await store.remove(`${aside}${name}`);
    return store.remove(name);
  }

  /** Returns the URLs of the stored sign-ins, sorted. */
  async listServers(): Promise<readonly string[]> {
    return [...(await this.getAllCredentials()).keys()];
  }

  /** Returns the sign-ins with this storage's digest, sorted by URL. */
  async getAllCredentials(): Promise<ReadonlyMap<string, Credentials>> {
    const own = (await this.everything()).filter(({ pin }) => pin === this.#pin);
    return new Map(own.map((credentials) => [checkedUrl(credentials.serverUrl), credentials]));
  }

  /** Returns all sign-ins, with any digest, sorted by URL. */
  async everything(): Promise<readonly Credentials[]> {
    const all = new Map<string, Credentials>();
    for (const name of await this.#names()) {
      if (!name.startsWith(prefix)) continue;
      const credentials = await this.#read(name);
      const url = credentials && canonicalServerUrl(credentials.serverUrl);
      if (credentials === undefined || url === undefined) continue;
      const { pin = "" } = credentials;
      if ((await secretNameOf(url, credentials.pin)) === name) all.set(`${url} ${pin}`, credentials);
    }
    return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, credentials]) => credentials);
  }

  /** Deletes all sign-ins. */
  async clearAll(): Promise<void> {
    for (const view of [this, ...this.#views.values()]) view.#cache.clear();
    const store = await this.#secrets();
    for (const name of await this.#names()) await store.remove(name);
  }

  /** If the secret store is damaged, the first read fails and repairs it. So a second read can succeed. */
  async #read(name: string): Promise<Credentials | undefined> {
    const store = await this.#secrets();
    const text = await store.get(name).catch(() => store.get(name));
    if (text === undefined) return undefined;
    const credentials = readCredentials(text);
    if (credentials === undefined) {
      await store.set(`${aside}${name}`, text);
      // The person may have signed in again in the meantime. Then the record is no longer the damaged one.
      if ((await store.get(name)) === text) await store.remove(name);
    }
    return credentials;
  }

  async #names(): Promise<readonly string[]> {
    const store = await this.#secrets();
    return store.list().catch(() => store.list());
  }

  /** After a failure, the next call tries again, because the person may have unlocked the keychain. */
  #secrets(): Promise<SecretStore> {
    this.#store ??= this.#open().catch((error: unknown) => {
      this.#store = undefined;
      throw error;
    });
    return this.#store;
  }

  #updateCache(url: string, credentials: Credentials | undefined): void {
    if (credentials === undefined) this.#cache.delete(url);
    else this.#cache.set(url, credentials);
  }
}

/**
 * Opens the storage for sign-ins. Other secrets are stored elsewhere, so `${secret:NAME}` in settings cannot read a
 * sign-in.
 */
export function openTokenStorage(options: TokenStorageOptions): MCPOAuthTokenStorage {
  const call = "openTokenStorage()";
  expectArguments(call, { options: [options, anObject] });
  const { state, env, platform } = readMembers(call, options, wantedOptions, "options.");
  return new MCPOAuthTokenStorage(async () => {
    const { openSecretStore } = await import("../../files/secrets/secret-store.ts");
    return openSecretStore({ directory: signInFolder(state), env, platform });
  });
}

/** Returns the folder for sign-ins and their locks. */
export function signInFolder(state: string): string {
  return join(state, "sign-ins");
}

/**
 * Returns the name under which a sign-in is stored. It is a digest, so it does not show the URL.
 *
 * @throws HostError `usage` for an invalid URL
 */
export async function secretNameOf(serverUrl: string, pin?: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  const url = checkedUrl(serverUrl);
  const whole = pin === undefined ? url : `${url} ${pin}`;
  return `${prefix}${createHash("sha256").update(whole).digest("hex")}`;
}

function checkedUrl(serverUrl: string): string {
  const url = typeof serverUrl === "string" ? canonicalServerUrl(serverUrl) : undefined;
  if (url !== undefined) return url;
  const shown = typeof serverUrl === "string" ? JSON.stringify(serverUrl) : `a ${typeof serverUrl}`;
  throw new HostError("usage", `"serverUrl" is ${shown}, which is not an http or https URL`);
}
