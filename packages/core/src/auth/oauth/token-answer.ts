/** What a token endpoint may answer (RFC 6749 §5): read once, bounded, and nothing taken on trust. */

import type { JsonObject } from "@fairlead/wire";
import { parseObject, textIn } from "@fairlead/wire/json";
import { present } from "../../settings/schema/present.ts";
import type { StoredTokens } from "../store/credentials.ts";

export type TokenAnswer =
  | { readonly kind: "tokens"; readonly tokens: StoredTokens }
  /** The authorization server's own word of RFC 6749 §5.2, such as `invalid_grant`. */
  | { readonly kind: "error"; readonly error: string; readonly description?: string }
  /** Another time it may work. */
  | { readonly kind: "unavailable"; readonly status: number }
  /** What came is no answer at all; the reason is for people. */
  | { readonly kind: "unusable"; readonly reason: string };

/** Three of these and a registration fit into one secret. A longer token would not fit into a request's header. */
const longestToken = 16_000;
const longestScope = 4_000;
const longestWord = 100;
const longestDescription = 1_000;
/** Longer than anyone means: a number beyond is a mistake, such as milliseconds or a date. */
const longestLife = 10 * 365 * 24 * 3600;

/** `askedAt` in milliseconds since 1970: a token ages from then on. */
export async function readTokenAnswer(response: Response, askedAt: number): Promise<TokenAnswer> {
  const { status } = response;
  const text = await response.text();
  if (status >= 500 || status === 429 || status === 408) return { kind: "unavailable", status };
  const isForm = response.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded") ?? false;
  const answer = isForm ? Object.fromEntries(new URLSearchParams(text)) : parseObject(text);
  // With a 200 too: GitHub does that.
  const error = answer && textIn(answer, "error");
  if (answer !== undefined && error !== undefined) {
    const description = textIn(answer, "error_description")?.slice(0, longestDescription);
    return { kind: "error", error: error.slice(0, longestWord), ...present({ description }) };
  }
  if (!response.ok) return { kind: "unusable", reason: `it answered with the HTTP status ${status}` };
  if (answer === undefined) return { kind: "unusable", reason: "its answer is not a JSON object" };
  return readTokens(answer, askedAt);
}

function readTokens(answer: JsonObject, askedAt: number): TokenAnswer {
  const type = textIn(answer, "token_type");
  if (type?.toLowerCase() !== "bearer") {
    const what = type === undefined ? "of no type" : `of the type ${JSON.stringify(type.slice(0, longestWord))}`;
    return { kind: "unusable", reason: `its token is ${what}, not a Bearer token` };
  }
  const accessToken = textIn(answer, "access_token");
  if (accessToken === undefined) return { kind: "unusable", reason: "there is no access token in its answer" };
  const refreshToken = textIn(answer, "refresh_token");
  if (![accessToken, refreshToken ?? "x"].every(isToken)) {
    return { kind: "unusable", reason: `its token is longer than ${longestToken} characters or not plain text` };
  }
  const idToken = textIn(answer, "id_token");
  return {
    kind: "tokens",
    tokens: {
      accessToken,
      tokenType: "Bearer",
      obtainedAt: askedAt,
      ...present({
        refreshToken,
        scope: textIn(answer, "scope")?.slice(0, longestScope),
        idToken: idToken !== undefined && isToken(idToken) ? idToken : undefined,
        expiresAt: expiryOf(answer["expires_in"], askedAt),
      }),
    },
  };
}

/** Undefined: nothing that can be believed was said (nobody gives out what has ended). Some servers write the number as text. */
function expiryOf(value: unknown, askedAt: number): number | undefined {
  const seconds = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== "number" || !(seconds > 0)) return undefined;
  return askedAt + Math.min(seconds, longestLife) * 1000;
}

/** What may stand in a header (RFC 6750 §2.1 allows less, but not everyone keeps to it). */
function isToken(text: string): boolean {
  return text.length <= longestToken && /^[\x21-\x7e]+$/.test(text);
}
