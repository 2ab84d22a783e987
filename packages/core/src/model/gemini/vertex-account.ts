/** Authorizes requests to Vertex AI with the user's Google account, from `gcloud` or an environment variable. */

import type { AuthClient } from "google-auth-library";
import { toGoogleError } from "../../auth/google/google-failure.ts";
import { createBoundedFetch, type Fetch } from "../../net/bounded-fetch.ts";
import type { Environment } from "../../settings/read/paths.ts";
import type { GeminiAccess } from "./gemini-access.ts";

type Authorize = Extract<GeminiAccess, { readonly kind: "vertex" }>["authorize"];

const serverName = "Vertex AI";
const scopes = ["https://www.googleapis.com/auth/cloud-platform"];

/** Returns a function that gives the authorization headers. */
export function authorizeVertex(given: Partial<Environment> & Pick<Environment, "env">, fetch?: Fetch): Authorize {
  const { env, home = env["HOME"] ?? env["USERPROFILE"] ?? "", cwd = home, platform = process.platform } = given;
  let client: Promise<AuthClient> | undefined;
  return async () => {
    try {
      client ??= openClient({ env, home, cwd, platform }, fetch ?? createBoundedFetch({ env }));
      return Object.fromEntries(await (await client).getRequestHeaders());
    } catch (error) {
      // Read again the next time: the user may sign in meanwhile.
      client = undefined;
      throw toGoogleError(error, { serverName });
    }
  };
}

async function openClient(environment: Environment, fetch: Fetch): Promise<AuthClient> {
  const { openGoogleClient } = await import("../../auth/google/google-credentials.ts");
  return openGoogleClient({ serverName, environment, scopes, fetch });
}
