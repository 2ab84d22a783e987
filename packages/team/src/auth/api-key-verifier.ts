/** API keys: `fl_ID_SECRET`. The gateway stores only a digest of the secret. */

import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { BlockList, isIP } from "node:net";
import { HostError } from "@fairlead/core";
import type { ApiKey, ApiKeyStore } from "../store/api-keys.ts";
import type { Hints } from "../store/hints.ts";
import type { UserStore } from "../store/users.ts";
import { type Caller, type Role, roles, widestScope } from "./caller.ts";

const form = /^fl_(?<id>[a-z0-9]{16})_(?<secret>[A-Za-z0-9_-]{43})$/;
/** A key is read again after this many milliseconds. A revoked key is forgotten at once, if the hint arrives. */
const fresh = 30_000;
/** How long a key counts that cannot be read again, in milliseconds. */
const longest = 300_000;
const mostKeys = 10_000;

/** Makes a new key. Its text is shown once and not stored. */
export function createApiKey(key: Omit<ApiKey, "id" | "hash">): { readonly key: ApiKey; readonly text: string } {
  const id = randomBytes(8).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  return { key: { ...key, id, hash: digestOf(secret) }, text: `fl_${id}_${secret}` };
}

/** Whether a bearer token is an API key, valid or not. */
export function isApiKey(token: string): boolean {
  return token.startsWith("fl_");
}

export interface ApiKeyVerifierOptions {
  readonly store: ApiKeyStore;
  readonly users: Pick<UserStore, "groupsOf">;
  readonly hints: Hints;
  /** In milliseconds since 1970. */
  readonly now: () => number;
}

/** A key as it was read, with the groups of its owner. */
interface ReadKey {
  readonly key: ApiKey | undefined;
  readonly groups: readonly string[];
  readonly readAt: number;
}

export class ApiKeyVerifier implements Disposable {
  readonly #store: ApiKeyStore;
  readonly #users: Pick<UserStore, "groupsOf">;
  readonly #now: () => number;
  readonly #cached = new Map<string, ReadKey>();
  readonly #stop: () => void;

  constructor({ store, users, hints, now }: ApiKeyVerifierOptions) {
    this.#store = store;
    this.#users = users;
    this.#now = now;
    this.#stop = hints.listen("api_key", (id) => {
      if (id === undefined) this.#cached.clear();
      else this.#cached.delete(id);
    });
  }

  /** Returns the machine whose key this is; undefined if the key is wrong, expired, revoked or used from elsewhere. */
  async verify(token: string, address: string | undefined): Promise<Caller | undefined> {
    const { id, secret } = form.exec(token)?.groups ?? {};
    if (id === undefined || secret === undefined) return undefined;
    const { key, groups } = await this.#read(id);
    if (key === undefined || !timingSafeEqual(key.hash, digestOf(secret))) return undefined;
    const now = this.#now();
    if (key.expiresAt !== undefined && key.expiresAt <= now) return undefined;
    if (key.networks.length > 0 && !networksOf(key.networks, "an API key")(address)) return undefined;
    const day = new Date(now).toISOString().slice(0, 10);
    if (key.lastUsedDay !== day) this.#store.used(id, day).catch(() => undefined);
    return {
      owner: key.owner,
      groups,
      roles: new Set(roles.filter((role): role is Role => role === "user" || role === key.role)),
      scope: widestScope(key.scopes),
      client: `key:${id}`,
    };
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  /** A rule about a group is about the keys of its members too: their groups are those of their latest token. */
  async #read(id: string): Promise<ReadKey> {
    const cached = this.#cached.get(id);
    const age = cached === undefined ? Number.POSITIVE_INFINITY : this.#now() - cached.readAt;
    if (cached !== undefined && age < fresh) return cached;
    try {
      const key = await this.#store.read(id);
      const { tenant, principal } = key?.owner ?? { tenant: 0, principal: "" };
      const groups = key && (await this.#users.groupsOf(tenant, [principal])).get(principal);
      const read = { key, groups: groups ?? [], readAt: this.#now() };
      const [oldest] = this.#cached.keys();
      if (oldest !== undefined && this.#cached.size >= mostKeys) this.#cached.delete(oldest);
      this.#cached.delete(id);
      this.#cached.set(id, read);
      return read;
    } catch (error) {
      if (cached !== undefined && age < longest) return cached;
      throw error;
    }
  }
}

/**
 * Returns a function that says whether an address is in one of the networks.
 *
 * @throws HostError `settings_invalid` for a network that is none
 */
export function networksOf(networks: readonly string[], owner: string): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    const length = bits === undefined ? (family === "ipv6" ? 128 : 32) : Number(bits);
    if (isIP(address) === 0 || !Number.isInteger(length) || length < 0 || length > (family === "ipv6" ? 128 : 32))
      throw new HostError("settings_invalid", `${network} of ${owner} is no network, such as 10.0.0.0/8`);
    list.addSubnet(address, length, family);
  }
  return (address) => {
    const plain = address?.replace(/^::ffff:(?=\d+\.)/i, "") ?? "";
    const version = isIP(plain);
    return version !== 0 && list.check(plain, version === 6 ? "ipv6" : "ipv4");
  };
}

function digestOf(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}
