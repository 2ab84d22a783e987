/** The metadata server of a machine in Google's cloud. */

import { type Answer, json } from "../authorization-server/answer.ts";
import type { Call } from "../authorization-server/authority.ts";
import { type Cloud, giveAccessToken, giveIdToken } from "./cloud.ts";

export const machineRoot = "/computeMetadata/v1/";

const flavor = { "metadata-flavor": "Google" };

export function answerMachine({ request, params }: Call, cloud: Cloud): Answer {
  // A web page cannot set this header, so the header protects against requests from web pages.
  if (request.headers["metadata-flavor"] !== "Google") return words("Missing Metadata-Flavor:Google header.", 403);
  const { machine, project, expiresIn } = cloud.settings;
  const [path = ""] = request.path.slice(machineRoot.length).split("?");
  if (path === "instance") return words("id");
  if (path === "project/project-id") return words(project);
  if (path === "universe/universe-domain") return words("googleapis.com");
  const [, account = "", wish = ""] = /^instance\/service-accounts\/([^/]+)\/([a-z]+)$/.exec(path) ?? [];
  if (!machine || !["default", machine.email].includes(decodeURIComponent(account))) return words("Not found.", 404);
  switch (wish) {
    case "email":
      return words(machine.email);
    case "token": {
      const scopes = params.get("scopes")?.split(",") ?? machine.scopes;
      if (!scopes.every((scope) => machine.scopes.includes(scope))) return words("Forbidden.", 403);
      const token = giveAccessToken(cloud, machine.email, scopes);
      return json({ access_token: token, expires_in: expiresIn, token_type: "Bearer" }, 200, flavor);
    }
    case "identity": {
      const audience = params.get("audience");
      return audience ? words(giveIdToken(cloud, machine.email, audience)) : words("audience is missing.", 400);
    }
  }
  return words("Not found.", 404);
}

function words(body: string, status = 200): Answer {
  return { status, headers: { "content-type": "application/text", ...flavor }, body };
}
