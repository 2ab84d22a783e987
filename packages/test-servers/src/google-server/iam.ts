/** The IAM credentials API: an account that may impersonate a service account gets its tokens. */

import { type Answer, json } from "../authorization-server/answer.ts";
import type { Call } from "../authorization-server/authority.ts";
import { type Cloud, giveAccessToken, giveIdToken } from "./cloud.ts";

interface Wish {
  readonly audience?: string;
  readonly scope?: readonly string[];
}

const iamScopes = ["https://www.googleapis.com/auth/cloud-platform", "https://www.googleapis.com/auth/iam"];

export function iamMethod(path: string): "generateIdToken" | "generateAccessToken" | undefined {
  if (!path.startsWith("/v1/projects/-/serviceAccounts/")) return undefined;
  if (path.endsWith(":generateIdToken")) return "generateIdToken";
  return path.endsWith(":generateAccessToken") ? "generateAccessToken" : undefined;
}

export function answerIdToken(call: Call, cloud: Cloud): Answer {
  const account = accountIn(call);
  const { audience } = JSON.parse(call.request.body) as Wish;
  if (!audience) return problem(400, "INVALID_ARGUMENT", "audience is required.");
  return refuse(call, account, cloud) ?? json({ token: giveIdToken(cloud, account, audience) });
}

export function answerAccessToken(call: Call, cloud: Cloud): Answer {
  const account = accountIn(call);
  const { scope = [] } = JSON.parse(call.request.body) as Wish;
  if (scope.length === 0) return problem(400, "INVALID_ARGUMENT", "scope is required.");
  const refusal = refuse(call, account, cloud);
  if (refusal) return refusal;
  const expireTime = new Date(Date.now() + cloud.settings.expiresIn * 1000).toISOString();
  return json({ accessToken: giveAccessToken(cloud, account, scope), expireTime });
}

function accountIn({ request }: Call): string {
  return decodeURIComponent(/serviceAccounts\/([^:]+):/.exec(request.path)?.[1] ?? "");
}

/** Returns the error for a caller that may not impersonate this account; undefined if it may. */
function refuse({ request }: Call, account: string, { tokens, settings }: Cloud): Answer | undefined {
  const token = tokens.get(/^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "");
  if (!token || token.expiresAt <= Date.now()) {
    return problem(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.");
  }
  if (!token.scopes.some((scope) => iamScopes.includes(scope))) {
    return problem(403, "PERMISSION_DENIED", "Request had insufficient authentication scopes.");
  }
  if (settings.impersonable.includes(account)) return undefined;
  return problem(403, "PERMISSION_DENIED", "Permission 'iam.serviceAccounts.getOpenIdToken' denied on resource.");
}

function problem(code: number, status: string, message: string): Answer {
  return json({ error: { code, message, status } }, code);
}
