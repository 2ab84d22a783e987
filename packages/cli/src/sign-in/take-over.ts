/** If Gemini CLI has stored tokens for a server, asks the user once whether Fairlead may use them. */

import { join } from "node:path";
import { readGeminiTokens } from "@fairlead/core/auth/store/gemini-tokens";
import { setSignInNote, signInNote } from "@fairlead/core/auth/store/sign-in-notes";
import { pinOf, urlOf } from "@fairlead/core/auth/store/sign-in-state";
import { canonicalServerUrl } from "@fairlead/core/auth/store/stored-credentials";
import { openTokenStorage } from "@fairlead/core/auth/store/token-storage";
import type { ServerDefinition } from "@fairlead/core/settings/define/definition";
import { safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { confirm } from "../shell/prompt.ts";
import type { Context } from "../shell/verb.ts";
import { readSecret } from "./read-state.ts";

/** Asks the user. Resolves to true if the tokens were copied into Fairlead's store. */
export async function offerGeminiSignIn(
  definition: ServerDefinition,
  configuration: Configuration,
  { io, out }: Context,
): Promise<boolean> {
  const { environment, locations } = configuration;
  const { home, env, platform } = environment;
  const url = canonicalServerUrl((await urlOf(definition, readSecret(configuration))) ?? "");
  if (url === undefined) return false;
  const file = join(home, ".gemini", "mcp-oauth-tokens.json");
  const found = (await readGeminiTokens(file, Date.now())).get(url);
  const which = { serverUrl: url, pin: await pinOf(definition) };
  if (found === undefined || (await signInNote(locations.state, "offered", which)) !== undefined) return false;
  const storage = openTokenStorage({ state: locations.state, env, platform }).pinned(which.pin);
  if ((await storage.getCredentials(url)) !== undefined) return false;
  await setSignInNote(locations.state, "offered", which, "");
  out.exactly(safe`Gemini CLI is signed in to this server (${toVisibleLine(file)}).`);
  out.exactly(
    safe`If Fairlead renews the token, Gemini CLI may have to sign in again. Fairlead does not change the file.`,
  );
  if (!(await confirm(io, safe`Use this sign-in in Fairlead too?`))) return false;
  await storage.saveCredentials({ ...found, serverName: definition.name });
  return true;
}
