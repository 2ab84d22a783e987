/** The servers of the settings at which users sign in, each with what a sign-in needs to know about it. */

import { bringsOwnHeader, pinOf, type SignInTarget, urlOf } from "@fairlead/core/auth";
import { expandAuthentication, type OAuthSettings } from "@fairlead/core/settings";
import type { Configuration } from "@fairlead/core/trust";

export interface ServerToSignIn extends SignInTarget {
  readonly oauth: OAuthSettings;
  readonly issuerOverride: string | undefined;
}

/** Reads them from the current configuration. Servers with a key or a header of the company need no sign-in. */
export async function serversToSignIn({ servers }: Pick<Configuration, "servers">): Promise<readonly ServerToSignIn[]> {
  // A team has no secret store: its secrets are in the environment or in files.
  const secret = async (): Promise<undefined> => undefined;

  const found: ServerToSignIn[] = [];
  for (const { server, admission } of servers) {
    const definition = "definition" in server ? server.definition : undefined;
    if (admission.status !== "admitted" || definition === undefined) continue;
    if (definition.transport.kind === "stdio" || definition.extras.machineAuth !== undefined) continue;
    if (definition.authentication.provider !== "oauth" || bringsOwnHeader(definition)) continue;
    const serverUrl = await urlOf(definition, secret);
    if (serverUrl === undefined) continue;
    const authentication = await expandAuthentication(definition, secret);
    found.push({
      serverName: definition.name,
      serverUrl,
      pin: await pinOf(definition),
      oauth: authentication.provider === "oauth" ? authentication.oauth : {},
      issuerOverride: definition.extras.issuerOverride,
    });
  }
  return found;
}
