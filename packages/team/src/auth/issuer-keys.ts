/** The public keys of one issuer. They are kept while the issuer cannot be reached. */

import { HostError } from "@fairlead/core";
import type { Clock } from "@fairlead/core/clock";
import type { Fetch } from "@fairlead/core/connect";
import { isObject } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { isUnalterable } from "../settings/fields.ts";
import type { IssuerSettings } from "./auth-settings.ts";

/** An unknown key id leads to a new request at most this often, in milliseconds: tokens with invented ids cost nothing. */
const pause = 30_000;
/** After this many milliseconds the keys are read again, while the old ones still count. */
const fresh = 600_000;

export class IssuerKeys {
  readonly #settings: Pick<IssuerSettings, "issuer" | "jwksUri">;
  readonly #fetch: Fetch;
  readonly #clock: Pick<Clock, "now">;
  #keys: JWTVerifyGetKey | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<JWTVerifyGetKey> | undefined;

  constructor(settings: Pick<IssuerSettings, "issuer" | "jwksUri">, fetch: Fetch, clock: Pick<Clock, "now">) {
    this.#settings = settings;
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /**
   * Finds the key that signed a token.
   *
   * @throws HostError `unreachable` if the keys were never read and cannot be read now
   */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    const now = this.#clock.now();
    const keys = this.#keys ?? (await this.#read());
    if (now - this.#readAt > fresh && now - this.#triedAt > pause) this.#read().catch(() => undefined);
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const newer = now - this.#triedAt > pause ? await this.#read().catch(() => keys) : await (this.#reading ?? keys);
      if (newer === keys) throw error;
      return newer(header, token);
    }
  };

  #read(): Promise<JWTVerifyGetKey> {
    this.#triedAt = this.#clock.now();
    this.#reading ??= this.#fetchKeys()
      .then((keys) => {
        this.#keys = keys;
        this.#readAt = this.#clock.now();
        return keys;
      })
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #fetchKeys(): Promise<JWTVerifyGetKey> {
    const { issuer, jwksUri = await this.#findKeys() } = this.#settings;
    const document = await this.#json(jwksUri);
    if (!isKeySet(document)) throw unreachable(issuer, `${jwksUri} is no set of keys`);
    return createLocalJWKSet(document);
  }

  /** The address of the keys in the issuer's metadata (OpenID Connect, or RFC 8414). */
  async #findKeys(): Promise<string> {
    const { issuer } = this.#settings;
    const { origin, pathname } = new URL(issuer);
    const path = pathname.replace(/\/$/, "");
    const addresses = [
      `${origin}${path}/.well-known/openid-configuration`,
      `${origin}/.well-known/oauth-authorization-server${path}`,
    ];
    let why = "it has no metadata";
    for (const address of addresses) {
      try {
        const metadata = await this.#json(address);
        const found = isObject(metadata) && metadata["issuer"] === issuer ? metadata["jwks_uri"] : undefined;
        if (typeof found === "string" && isUnalterable(found)) return found;
        why = `${address} names another issuer, or no keys at an https address`;
      } catch (error) {
        why = errorMessage(error);
      }
    }
    throw unreachable(issuer, why);
  }

  async #json(address: string): Promise<unknown> {
    const response = await this.#fetch(address, { headers: { accept: "application/json" } });
    if (!response.ok) throw new HostError("http_status", `${address} answered ${response.status}`);
    return response.json();
  }
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return isObject(value) && Array.isArray(value["keys"]) && value["keys"].every(isObject);
}

function unreachable(issuer: string, why: string): HostError {
  return new HostError("unreachable", `the keys of ${issuer} cannot be read: ${why}`, {
    next: `Check that this machine reaches ${issuer}, or set "jwksUri" of the issuer in fairlead.team.auth.`,
  });
}
