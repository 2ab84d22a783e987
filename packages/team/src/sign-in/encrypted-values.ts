/**
 * The encrypted values that browsers and clients carry for a sign-in, so that any replica can continue it: links, browser
 * sessions, logins and sign-ins under way, and the tokens of forms. Each kind opens only as what it is.
 */

import type { JsonObject } from "@fairlead/wire";
import { parseObject } from "@fairlead/wire/json";
import { type Bound, decryptToken, encryptToken } from "../store/encryption.ts";
import type { EncryptionPurpose, KeyRing } from "../store/key-ring.ts";

export type EncryptedKind = "link" | "session" | "login" | "form" | "state";

/** The kinds of values, and how many milliseconds each of them is valid. */
const kinds: Readonly<Record<EncryptedKind, { readonly purpose: EncryptionPurpose; readonly lifetime: number }>> = {
  /** In a link that a client shows to its user. It gives no access: the page requires a login as the same user. */
  link: { purpose: "connect", lifetime: 3_600_000 },
  /** In the cookie of a browser that is logged in. */
  session: { purpose: "connect", lifetime: 3_600_000 },
  /** In the cookie of a browser that logs in. */
  login: { purpose: "connect", lifetime: 600_000 },
  /** In a form, against requests that another site sends with the user's cookie. */
  form: { purpose: "connect", lifetime: 3_600_000 },
  /** The parameter `state` of a sign-in to a server. */
  state: { purpose: "oauth-state", lifetime: 600_000 },
};

export class EncryptedValues {
  readonly #ring: KeyRing;
  readonly #now: () => number;

  /** @param now Returns milliseconds since 1970. */
  constructor(ring: KeyRing, now: () => number) {
    this.#ring = ring;
    this.#now = now;
  }

  /** @param bound What the value belongs to. It opens only with the same. */
  encrypt(kind: EncryptedKind, bound: Bound, value: JsonObject): string {
    const { purpose, lifetime } = kinds[kind];
    const until = this.#now() + lifetime;
    return encryptToken(this.#ring, purpose, [kind, ...bound], JSON.stringify({ ...value, until }));
  }

  /** Undefined if the value has expired, was changed, or belongs to something else. */
  open(kind: EncryptedKind, bound: Bound, token: string | null | undefined): JsonObject | undefined {
    const text = decryptToken(this.#ring, kinds[kind].purpose, [kind, ...bound], token ?? "");
    const value = text === undefined ? undefined : parseObject(text);
    return value !== undefined && Number(value["until"]) > this.#now() ? value : undefined;
  }

  /** When a value that is encrypted now expires, in seconds from now. */
  secondsOf(kind: EncryptedKind): number {
    return kinds[kind].lifetime / 1000;
  }
}
