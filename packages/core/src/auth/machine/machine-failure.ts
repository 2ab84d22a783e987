/** Explains why an authorization server refused a machine's token request, and what the user can do. */

import type { JsonObject } from "@fairlead/wire";
import { clip } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import { clockProblem, durationWords } from "../oauth/failure.ts";
import { claimsOf } from "../oauth/jwt.ts";
import type { TokenAnswer } from "../oauth/token-request.ts";
import type { StoredClient } from "../store/credentials.ts";
import type { Assertion } from "./assertion.ts";
import type { MachineProof } from "./client-proof.ts";

/** A refused token request, and what Fairlead sent in it. */
export interface MachineRefusal {
  readonly serverName: string;
  readonly step: "token request" | "token exchange";
  readonly url: string;
  readonly answer: Exclude<TokenAnswer, { readonly kind: "tokens" }>;
  readonly client: StoredClient | undefined;
  readonly proof: MachineProof;
  /** The JWT in the request that proves the machine's identity, if any. */
  readonly assertion?: Assertion | undefined;
  /** The audiences that the token endpoint may expect in that JWT. */
  readonly audiences: readonly [string, ...string[]];
  readonly scopes: readonly string[];
  /** Whether the request contained a DPoP proof (RFC 9449). */
  readonly isDpop: boolean;
  /** When the response arrived, in milliseconds since 1970. */
  readonly now: number;
}

type ErrorAnswer = Extract<TokenAnswer, { readonly kind: "error" }>;

interface Reason {
  readonly why: string;
  readonly next: string;
}

const longestEvidence = 300;

/** Returns the error for a token request without a token. Its code is `http_status` or `auth_failed`. */
export function machineRefused(refusal: MachineRefusal): HostError {
  const { serverName, step, url, answer } = refusal;
  const { host } = new URL(url);
  const begin = `${step} for "${serverName}"`;
  switch (answer.kind) {
    case "unavailable":
      return new HostError("http_status", `${begin} failed: ${host} answered HTTP ${answer.status}`, {
        serverName,
        next: "Try again later.",
      });
    case "unusable":
      return new HostError("auth_failed", `${begin} failed: ${host} gave no token: ${answer.reason}`, {
        serverName,
        next: `Check "tokenUrl" and "issuer" under machineAuth of "${serverName}".`,
      });
    case "error": {
      const { why, next } = reasonFor(answer, refusal);
      const evidence = clip(answer.description ?? "", longestEvidence);
      return new HostError("auth_failed", `${begin} refused by ${host}: ${why} (${clip(answer.error, 60)})`, {
        serverName,
        next,
        evidence: evidence || undefined,
      });
    }
  }
}

function reasonFor(answer: ErrorAnswer, refusal: MachineRefusal): Reason {
  const { client, proof, scopes, serverName } = refusal;
  const { clientId = "" } = client ?? {};
  const settings = `under machineAuth of "${serverName}"`;
  const clock = clockReason(answer, refusal);
  if (clock !== undefined) return clock;
  switch (answer.error) {
    case "invalid_client":
      return clientReason(answer, refusal, settings);
    case "unauthorized_client":
      return {
        why: `client "${clientId}" may not use the requested grant type`,
        next: `Ask the operator of the authorization server to allow the grant type for client "${clientId}".`,
      };
    case "unsupported_grant_type":
      return {
        why: "the authorization server does not support the requested grant type",
        next: `Choose another "kind" ${settings}.`,
      };
    case "invalid_grant":
      return assertionReason(answer, refusal, settings);
    case "invalid_scope":
      return {
        why:
          scopes.length === 0
            ? "the authorization server requires other scopes"
            : `the authorization server does not grant the scopes ${scopes.join(" ")}`,
        next: `Correct "scopes" ${settings}, or ask the operator of the authorization server to allow them for ${clientId === "" ? "this machine" : `client "${clientId}"`}.`,
      };
    case "invalid_target":
      return {
        why: "the authorization server issues no tokens for this audience",
        next: `Correct "audience" ${settings}, or ask the operator of the authorization server to allow this audience.`,
      };
    case "invalid_dpop_proof":
      return {
        why: "the authorization server rejected the DPoP proof",
        next: "Ask the operator of the authorization server which DPoP proofs the server accepts.",
      };
  }
  const method = proof.method === "none" ? "" : ` with ${proof.method}`;
  return { why: `the authorization server refused the request${method}`, next: `Check the settings ${settings}.` };
}

/** A wrong clock is the cause only if the request contained a time, and the error can be about a time. */
function clockReason(
  { error, clockLead }: ErrorAnswer,
  { proof, assertion, isDpop, now }: MachineRefusal,
): Reason | undefined {
  const isDated = proof.method === "private_key_jwt" || assertion !== undefined || isDpop;
  const isAboutDates = ["invalid_client", "invalid_grant", "invalid_dpop_proof"].includes(error);
  return isDated && isAboutDates ? clockProblem(clockLead, now) : undefined;
}

function clientReason({ description = "" }: ErrorAnswer, { client, proof }: MachineRefusal, settings: string): Reason {
  const { clientId = "" } = client ?? {};
  const isUnknown = /unknown|not found|not registered|does not exist|no such/i.test(description);
  if (isUnknown)
    return {
      why: `the authorization server does not know client "${clientId}"`,
      next: `Correct "clientId" ${settings}, or register the client with the authorization server.`,
    };
  switch (proof.method) {
    case "private_key_jwt":
      return {
        why: `the authorization server does not accept the key ${proof.key} for client "${clientId}"`,
        next: `Register the public key of ${proof.key} with the authorization server, or correct the private key and "keyId" ${settings}.`,
      };
    case "client_secret_basic":
    case "client_secret_post":
      return {
        why: `client "${clientId}" is unknown to the authorization server, or the client's secret is wrong`,
        next: `Correct "clientId" and "clientSecret" ${settings}.`,
      };
    case "none":
      return {
        why: `client "${clientId}" is unknown to the authorization server, or the client must authenticate itself`,
        next: `Correct "clientId", or add "clientSecret" or "privateKeyFile" ${settings}.`,
      };
  }
}

function assertionReason({ clockLead = 0 }: ErrorAnswer, refusal: MachineRefusal, settings: string): Reason {
  const { assertion, audiences, now } = refusal;
  if (assertion === undefined)
    return { why: "the authorization server rejected the grant", next: `Check the settings ${settings}.` };
  const claims = claimsOf(assertion.jwt) ?? {};
  const theirNow = now - clockLead;
  const expiry = secondsIn(claims, "exp");
  if (expiry !== undefined && expiry <= theirNow)
    return {
      why: `the JWT in ${assertion.from} expired ${durationWords(theirNow - expiry)} ago`,
      next: "Check the program that renews the JWT.",
    };
  const start = secondsIn(claims, "nbf");
  if (start !== undefined && start > theirNow)
    return {
      why: `the JWT in ${assertion.from} is not valid yet: it becomes valid in ${durationWords(start - theirNow)}`,
      next: "Check the clock of the program that issues the JWT.",
    };
  const named = [claims["aud"] ?? []].flat().map(String);
  if (!named.some((audience) => audiences.some((expected) => withoutSlash(expected) === withoutSlash(audience))))
    return {
      why: `the JWT in ${assertion.from} is for ${clip(named.join(", ") || "no audience", 200)}, not for ${audiences[0]}`,
      next: `Have the JWT issued for ${audiences[0]}${audienceHint(refusal)}.`,
    };
  return {
    why: `the authorization server does not accept the JWT in ${assertion.from}`,
    next: "Ask the operator of the authorization server to trust the issuer and the subject of this JWT.",
  };
}

/** A cloud service issues the JWT for the audience in the settings, so there the user can correct it. */
function audienceHint({ assertion }: MachineRefusal): string {
  return assertion?.from.startsWith("the metadata service") === true ? ', or set "audience"' : "";
}

function secondsIn(claims: JsonObject, name: string): number | undefined {
  const value = claims[name];
  return typeof value === "number" ? value * 1000 : undefined;
}

function withoutSlash(text: string): string {
  return text.replace(/\/+$/, "");
}
