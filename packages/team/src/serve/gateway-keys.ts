/** The key of all replicas' gateways, from the key ring. Codes of any key of the ring are accepted, so keys can be rotated. */

import { createHmac, timingSafeEqual } from "node:crypto";
import type { GatewayKey } from "@fairlead/gateway/gateway-key";
import type { KeyRing, PurposeKey } from "../store/key-ring.ts";

/** Characters of a code: 128 bits in base64url. */
const codeLength = 22;

export function sharedGatewayKey(ring: KeyRing): GatewayKey {
  const codeWith = ({ key }: PurposeKey, use: string, text: string): string =>
    createHmac("sha256", key)
      .update(JSON.stringify([use, text]))
      .digest("base64url")
      .slice(0, codeLength);
  return {
    codeOf: (use, text) => codeWith(ring.keysFor("gateway")[0], use, text),
    isCodeOf(use, text, given) {
      const code = Buffer.from(given);
      return ring.keysFor("gateway").some((key) => {
        const own = Buffer.from(codeWith(key, use, text));
        return own.length === code.length && timingSafeEqual(own, code);
      });
    },
  };
}
