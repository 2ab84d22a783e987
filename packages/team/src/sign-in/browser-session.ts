/** The session of a browser that is logged in to the gateway: an encrypted cookie, so that every replica knows it. */

import { randomBytes } from "node:crypto";
import { textIn } from "@fairlead/wire/json";
import type { RevokedUsers } from "../auth/revoked-users.ts";
import type { Owner } from "../store/owner.ts";
import type { EncryptedValues } from "./encrypted-values.ts";

export interface BrowserSession {
  readonly id: string;
  readonly owner: Owner;
  /** What the issuer calls the user, for the pages. */
  readonly name: string;
}

/**
 * The prefix makes browsers accept the cookie only over https, from this host, for all its paths. Browsers do not keep
 * ports of a host apart, so the gateway needs a host name of its own.
 */
const sessionCookie = "__Host-fairlead-session";

export class BrowserSessions {
  readonly #encryption: EncryptedValues;
  readonly #revoked: Pick<RevokedUsers, "has">;
  readonly #now: () => number;

  constructor(encryption: EncryptedValues, revoked: Pick<RevokedUsers, "has">, now: () => number) {
    this.#encryption = encryption;
    this.#revoked = revoked;
    this.#now = now;
  }

  /** Returns the session of a browser, from its header `Cookie`. Undefined if it is not logged in. */
  read(cookies: string | undefined): BrowserSession | undefined {
    const value = this.#encryption.open("session", [], cookieIn(cookies, sessionCookie));
    if (value === undefined) return undefined;
    const [id = "", principal = "", name = ""] = ["id", "principal", "name"].map((key) => textIn(value, key));
    const owner = { tenant: Number(value["tenant"]), principal };
    return this.#revoked.has(owner, Number(value["at"])) ? undefined : { id, owner, name };
  }

  /** Begins a session. Returns the cookie. */
  begin({ tenant, principal }: Owner, name: string): string {
    const id = randomBytes(16).toString("base64url");
    const value = this.#encryption.encrypt("session", [], { id, tenant, principal, name, at: this.#now() });
    return cookie(sessionCookie, value, this.#encryption.secondsOf("session"));
  }

  /** Returns the cookie that ends a session in this browser. */
  end(): string {
    return cookie(sessionCookie, "", 0);
  }

  /** A token for a form of this session. `action` is what the form does. */
  formToken({ id }: BrowserSession, action: string): string {
    return this.#encryption.encrypt("form", [id, action], {});
  }

  isFormToken({ id }: BrowserSession, action: string, token: string | null): boolean {
    return this.#encryption.open("form", [id, action], token) !== undefined;
  }
}

/**
 * A cookie that scripts cannot read. `Lax`: the browser sends it also when an issuer sends the user back here, but not
 * with requests that another site makes.
 */
export function cookie(name: string, value: string, seconds: number): string {
  return `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
}

/** The value of a cookie in the header `Cookie`. Of several with this name, the first. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  const found = header?.split(";").find((each) => each.trim().startsWith(`${name}=`));
  return found?.trim().slice(name.length + 1);
}
