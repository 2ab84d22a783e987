import { join } from "node:path";
import { HostError } from "../../errors.ts";
import type { SecretStore } from "../../files/secrets/secret-port.ts";
import type { Credentials } from "./credentials.ts";
import { canonicalServerUrl, readCredentials, writeCredentials } from "./stored-credentials.ts";

const prefix = "oauth.";
/** Prefix of the names under which damaged secrets are kept. */
const aside = "corrupt.";

/** Options of `openTokenStorage`. */
export interface TokenStorageOptions {
  /** Folder of this installation's state. */
  readonly state: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** Stores sign-ins by server URL, in the system keychain or in an encrypted file. */
export class MCPOAuthTokenStorage {
  readonly #open: () => Promise<SecretStore>;
  readonly #pin: string | undefined;
  readonly #cache = new Map<string, Credentials>();
  readonly #views = new Map<string, MCPOAuthTokenStorage>();
  #store: Promise<SecretStore> | undefined;

  /** @param open Opens the secret store. Called at the first use. */
  constructor(open: () => Promise<SecretStore>, pin?: string) {
    this.#open = open;
    this.#pin = pin;
  }

  /** A view of this storage that contains only sign-ins with this `pinOf` digest. */
  pinned(pin: string | undefined): MCPOAuthTokenStorage {
    if (pin === undefined) return this;
    const view = this.#views.get(pin) ?? new MCPOAuthTokenStorage(() => this.#secrets(), pin);
    this.#views.set(pin, view);
    return view;
  }

  /** The name of the secret that holds a sign-in. */
  nameOf(serverUrl: string): Promise<string> {
    return secretNameOf(serverUrl, this.#pin);
  }

  /** The credentials of a server. Reads the store each time, because another process may have signed in or out. */
  async getCredentials(serverUrl: string): Promise<Credentials | undefined> {
    const url = checkedUrl(serverUrl);
    const found = await this.#read(await this.nameOf(url));
    // Ignores credentials with a different URL or a different `pinOf` digest, even if they are stored under this name.
    const isOwn = found !== undefined && canonicalServerUrl(found.serverUrl) === url && found.pin === this.#pin;
    const credentials = isOwn ? found : undefined;
    this.#updateCache(url, credentials);
    return credentials;
  }

  /** The credentials that this process last read or stored. */
  lastKnown(serverUrl: string): Credentials | undefined {
    return this.#cache.get(checkedUrl(serverUrl));
  }

  /** Stores credentials. Only views with the same `pinOf` digest find them. */
  async saveCredentials(given: Credentials): Promise<void> {
    const { pin: _, ...unpinned } = given;
    const url = checkedUrl(given.serverUrl);
    const credentials = this.#pin === undefined ? unpinned : { ...unpinned, pin: this.#pin };
    const store = await this.#secrets();
    await store.set(await this.nameOf(url), writeCredentials(credentials));
    this.#updateCache(url, credentials);
  }

  /** Deletes the credentials of a server. Returns false if there were none. */
  async deleteCredentials(serverUrl: string): Promise<boolean> {
    const url = checkedUrl(serverUrl);
    const [store, name] = [await this.#secrets(), await this.nameOf(url)];
    this.#updateCache(url, undefined);
    await store.remove(`${aside}${name}`);
    return store.remove(name);
  }

  /** The URLs of the stored sign-ins, sorted. */
  async listServers(): Promise<readonly string[]> {
    return [...(await this.getAllCredentials()).keys()];
  }

  /** The stored sign-ins with the `pinOf` digest of this view, sorted by URL. */
  async getAllCredentials(): Promise<ReadonlyMap<string, Credentials>> {
    const own = (await this.everything()).filter(({ pin }) => pin === this.#pin);
    return new Map(own.map((credentials) => [checkedUrl(credentials.serverUrl), credentials]));
  }

  /** All stored sign-ins, with any `pinOf` digest, sorted by URL. */
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

  /**
   * Reads a sign-in. If the secret store is damaged, the first attempt to read it fails and repairs it, so a second
   * attempt can succeed.
   */
  async #read(name: string): Promise<Credentials | undefined> {
    const store = await this.#secrets();
    const text = await store.get(name).catch(() => store.get(name));
    if (text === undefined) return undefined;
    const credentials = readCredentials(text);
    if (credentials === undefined) {
      await store.set(`${aside}${name}`, text);
      // Removes the damaged record, unless the person has just signed in again.
      if ((await store.get(name)) === text) await store.remove(name);
    }
    return credentials;
  }

  async #names(): Promise<readonly string[]> {
    const store = await this.#secrets();
    return store.list().catch(() => store.list());
  }

  /**
   * Opens the secret store once. After a failure, the next call tries again, because the person may have unlocked the
   * keychain.
   */
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
 * Opens the storage for sign-ins. Other secrets are stored separately, so `${secret:NAME}` in settings can never name a
 * sign-in.
 */
export function openTokenStorage({ state, env, platform }: TokenStorageOptions): MCPOAuthTokenStorage {
  return new MCPOAuthTokenStorage(async () => {
    const { openSecretStore } = await import("../../files/secrets/secret-store.ts");
    return openSecretStore({ directory: signInFolder(state), env, platform });
  });
}

/** Folder of the sign-ins and their locks. */
export function signInFolder(state: string): string {
  return join(state, "sign-ins");
}

/**
 * Returns the name under which a sign-in is stored. The name is a digest, so it reveals nothing about the URL.
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
  const url = canonicalServerUrl(serverUrl);
  if (url !== undefined) return url;
  throw new HostError("usage", `${JSON.stringify(serverUrl)} is not an http or https URL`);
}
