/** Where sign-ins are kept: one secret for each server address, and for each way that entries pin it; in the keychain or the encrypted file. */

import { join } from "node:path";
import { HostError } from "../../errors.ts";
import type { SecretStore } from "../../files/secrets/secret-port.ts";
import type { Credentials } from "./credentials.ts";
import { canonicalServerUrl, readCredentials, writeCredentials } from "./stored-credentials.ts";

const prefix = "oauth.";
/** Before the name of a record that could not be read. */
const aside = "corrupt.";

export interface TokenStorageOptions {
  /** The folder of this installation's state. */
  readonly state: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** Stores sign-ins by server URL, in the system keychain or in an encrypted file. */
export class MCPOAuthTokenStorage {
  readonly #open: () => Promise<SecretStore>;
  readonly #pin: string | undefined;
  readonly #known = new Map<string, Credentials>();
  readonly #views = new Map<string, MCPOAuthTokenStorage>();
  #store: Promise<SecretStore> | undefined;

  /** Nothing is opened before it is needed. */
  constructor(open: () => Promise<SecretStore>, pin?: string) {
    this.#open = open;
    this.#pin = pin;
  }

  /** The same store, as entries with that pin see it (`pinOf`): their own sign-ins, and nobody else's. */
  pinned(pin: string | undefined): MCPOAuthTokenStorage {
    if (pin === undefined) return this;
    const view = this.#views.get(pin) ?? new MCPOAuthTokenStorage(() => this.#secrets(), pin);
    this.#views.set(pin, view);
    return view;
  }

  /** Under which a sign-in is kept: tells nothing about the address, and has a fixed length. */
  nameOf(serverUrl: string): Promise<string> {
    return secretNameOf(serverUrl, this.#pin);
  }

  /** Asks the store each time: another process may have signed in, or out. */
  async getCredentials(serverUrl: string): Promise<Credentials | undefined> {
    const url = checkedUrl(serverUrl);
    const found = await this.#read(await this.nameOf(url));
    // Whatever a record says of itself: what was meant for another address or entry goes nowhere.
    const isOwn = found !== undefined && canonicalServerUrl(found.serverUrl) === url && found.pin === this.#pin;
    const credentials = isOwn ? found : undefined;
    this.#remember(url, credentials);
    return credentials;
  }

  /** What this process read or stored last, without asking the store. */
  lastKnown(serverUrl: string): Credentials | undefined {
    return this.#known.get(checkedUrl(serverUrl));
  }

  /** Under this view's own pin, whatever they say. */
  async saveCredentials(given: Credentials): Promise<void> {
    const { pin: _, ...unpinned } = given;
    const url = checkedUrl(given.serverUrl);
    const credentials = this.#pin === undefined ? unpinned : { ...unpinned, pin: this.#pin };
    const store = await this.#secrets();
    await store.set(await this.nameOf(url), writeCredentials(credentials));
    this.#remember(url, credentials);
  }

  /** True if there were some. */
  async deleteCredentials(serverUrl: string): Promise<boolean> {
    const url = checkedUrl(serverUrl);
    const [store, name] = [await this.#secrets(), await this.nameOf(url)];
    this.#remember(url, undefined);
    await store.remove(`${aside}${name}`);
    return store.remove(name);
  }

  /** The addresses, in alphabetical order. */
  async listServers(): Promise<readonly string[]> {
    return [...(await this.getAllCredentials()).keys()];
  }

  /** By address, in alphabetical order. */
  async getAllCredentials(): Promise<ReadonlyMap<string, Credentials>> {
    const own = (await this.everything()).filter(({ pin }) => pin === this.#pin);
    return new Map(own.map((credentials) => [checkedUrl(credentials.serverUrl), credentials]));
  }

  /** Also those of entries that pin something; by address, in alphabetical order. */
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

  async clearAll(): Promise<void> {
    for (const view of [this, ...this.#views.values()]) view.#known.clear();
    const store = await this.#secrets();
    for (const name of await this.#names()) await store.remove(name);
  }

  /** A store that is broken has put the damaged part away by the time it says so: asked again, it answers. */
  async #read(name: string): Promise<Credentials | undefined> {
    const store = await this.#secrets();
    const text = await store.get(name).catch(() => store.get(name));
    if (text === undefined) return undefined;
    const credentials = readCredentials(text);
    if (credentials === undefined) {
      await store.set(`${aside}${name}`, text);
      // Somebody may have signed in again meanwhile.
      if ((await store.get(name)) === text) await store.remove(name);
    }
    return credentials;
  }

  async #names(): Promise<readonly string[]> {
    const store = await this.#secrets();
    return store.list().catch(() => store.list());
  }

  /** One that could not be opened is tried again: a keychain may be unlocked meanwhile. */
  #secrets(): Promise<SecretStore> {
    this.#store ??= this.#open().catch((error: unknown) => {
      this.#store = undefined;
      throw error;
    });
    return this.#store;
  }

  #remember(url: string, credentials: Credentials | undefined): void {
    if (credentials === undefined) this.#known.delete(url);
    else this.#known.set(url, credentials);
  }
}

/** In a store of their own: no `${secret:NAME}` in a settings file can name a sign-in, and the one's damage is not the other's. */
export function openTokenStorage({ state, env, platform }: TokenStorageOptions): MCPOAuthTokenStorage {
  return new MCPOAuthTokenStorage(async () => {
    const { openSecretStore } = await import("../../files/secrets/secret-store.ts");
    return openSecretStore({ directory: signInFolder(state), env, platform });
  });
}

/** Also where the locks for refreshing are. */
export function signInFolder(state: string): string {
  return join(state, "sign-ins");
}

/** A name that tells nothing about the address, and has a fixed length. */
export async function secretNameOf(serverUrl: string, pin?: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  const url = checkedUrl(serverUrl);
  // No address has a blank in it.
  const whole = pin === undefined ? url : `${url} ${pin}`;
  return `${prefix}${createHash("sha256").update(whole).digest("hex")}`;
}

function checkedUrl(serverUrl: string): string {
  const url = canonicalServerUrl(serverUrl);
  if (url !== undefined) return url;
  throw new HostError("usage", `${JSON.stringify(serverUrl)} is no address of a server that one can sign in to`);
}
