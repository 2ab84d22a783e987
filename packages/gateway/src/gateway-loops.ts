/**
 * Finds loops: a gateway that is, directly or through others, a server of itself. It would list its own tools again
 * under new names, and wait for its own lists.
 *
 * Each gateway puts a token of its own into its greeting to a server, with the tokens of the gateways above it, and into
 * its answer to a client, with those of the gateways below it. A gateway that gets one of its own tokens back is in a
 * loop. A token is new for each message, and only gateways with the same state folder recognise it: it tells a server
 * nothing about the user. Greetings and answers have different tokens, so a server cannot send back those that it got.
 */

import { randomBytes } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { listOf } from "@fairlead/wire/json";
import type { GatewayKey } from "./gateway-key.ts";

/** The member of `_meta` with the tokens. */
export const gatewaysKey = "fairlead/gateways";

/** `above`: in a greeting, for the gateways above its receiver. `below`: in an answer, for those below its sender. */
export type TokenUse = "above" | "below";

/** Writes and reads the tokens of gateways. */
export interface GatewayLoops {
  /** Returns the `_meta` of a greeting or an answer: a new token of this gateway, and the given ones of others. */
  metaOf(use: TokenUse, others: Iterable<string>): Promise<JsonObject>;
  /** Returns the tokens in the `_meta` of the other side. Returns `loop` if this gateway made one of them. */
  read(use: TokenUse, meta: JsonObject): Promise<readonly string[] | "loop">;
}

/** More gateways in a row count as a loop. It bounds what gateways without a common state folder can start. */
const mostGateways = 16;
const token = /^([\w-]{16})\.([\w-]{22})$/;

/** Creates the reader and writer of tokens. */
export function createGatewayLoops(key: () => Promise<GatewayKey>): GatewayLoops {
  return {
    async metaOf(use, others) {
      const nonce = randomBytes(12).toString("base64url");
      const own = `${nonce}.${(await key()).codeOf(`gateway ${use}`, nonce)}`;
      return { [gatewaysKey]: [...new Set([own, ...others])].slice(0, mostGateways) };
    },
    async read(use, meta) {
      const tokens = listOf(meta[gatewaysKey]).filter(
        (each) => typeof each === "string" && token.test(each),
      ) as string[];
      if (tokens.length === 0) return [];
      const own = await key();
      const isOwn = (each: string): boolean => {
        const [nonce = "", code = ""] = each.split(".");
        return own.isCodeOf(`gateway ${use}`, nonce, code);
      };
      return tokens.length >= mostGateways || tokens.some(isOwn) ? "loop" : tokens;
    },
  };
}
