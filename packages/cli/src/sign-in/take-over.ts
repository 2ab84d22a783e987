/** Offers, once for each server, to go on with the sign-in that Gemini CLI has stored for it. */

import { join } from "node:path";
import { readGeminiTokens } from "@fairlead/core/auth/store/gemini-tokens";
import { pinOf } from "@fairlead/core/auth/store/pin";
import { markOf, setMark } from "@fairlead/core/auth/store/sign-in-memory";
import { urlOf } from "@fairlead/core/auth/store/sign-in-state";
import { canonicalServerUrl } from "@fairlead/core/auth/store/stored-credentials";
import { openTokenStorage } from "@fairlead/core/auth/store/token-storage";
import type { ServerDefinition } from "@fairlead/core/settings/define/definition";
import { safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { confirm } from "../shell/prompt.ts";
import type { Context } from "../shell/verb.ts";
import { readSecret } from "./read-state.ts";

/** True: it is stored here now, and need only be tried. */
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
  if (found === undefined || (await markOf(locations.state, "offered", which)) !== undefined) return false;
  const storage = openTokenStorage({ state: locations.state, env, platform }).pinned(which.pin);
  if ((await storage.getCredentials(url)) !== undefined) return false;
  await setMark(locations.state, "offered", which, "");
  out.exactly(safe`Gemini CLI is signed in to this server (${toVisibleLine(file)}).`);
  out.exactly(
    safe`If its token is renewed here, Gemini CLI may have to sign in again. The file itself is left as it is.`,
  );
  if (!(await confirm(io, safe`Take its sign-in over?`))) return false;
  await storage.saveCredentials({ ...found, serverName: definition.name });
  return true;
}
