/**
 * Seals a person's yes into the `requestState` of a modern server: the client sends its request again with the server's
 * answers, and the person is not asked a second time.
 */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { isObject, parseObject } from "@fairlead/wire/json";

export interface SealedConsent {
  /** The state to give to the client. `state` is the server's own; undefined if it gave none. */
  seal(identity: string, state: string | undefined): string;
  /** The server's state, if the seal is intact, not too old and made for this request. */
  open(sealed: string, identity: string): { readonly state: string | undefined } | undefined;
}

const prefix = "fairlead-yes.";

/** Whether a request state was sealed by a gateway. */
export function isSealed(state: unknown): state is string {
  return typeof state === "string" && state.startsWith(prefix);
}

/** @param lifetime How long a yes holds, in milliseconds. The key lives as long as this gateway. */
export function createSealedConsent(now: () => number, lifetime = 600_000): SealedConsent {
  const key = randomBytes(32);
  const sign = (text: string): Buffer => createHmac("sha256", key).update(text).digest();

  return {
    seal(identity, state) {
      const body = Buffer.from(JSON.stringify({ identity, state, until: now() + lifetime })).toString("base64url");
      return `${prefix}${body}.${sign(body).toString("base64url")}`;
    },
    open(sealed, identity) {
      const [body = "", given = ""] = sealed.slice(prefix.length).split(".");
      const expected = sign(body);
      const signature = Buffer.from(given, "base64url");
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return undefined;
      const content = parseObject(Buffer.from(body, "base64url").toString("utf8"));
      if (!isObject(content) || content["identity"] !== identity) return undefined;
      if (typeof content["until"] !== "number" || content["until"] < now()) return undefined;
      return { state: typeof content["state"] === "string" ? content["state"] : undefined };
    },
  };
}
