/** Reads sign-in states from the token store. */

import { join } from "node:path";
import {
  canonicalServerUrl,
  openTokenStorage,
  pinOf,
  readGeminiTokens,
  type SignInState,
  setSignInNote,
  signInNote,
  signInStateOf,
  urlOf,
} from "@fairlead/core/auth";
import { openSecretStore } from "@fairlead/core/files";
import { toShellWord } from "@fairlead/core/plain-text";
import type { ServerDefinition } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import { table } from "../output/output.ts";
import { signInDocument, signInWords } from "../output/servers/server-state.ts";
import { confirm } from "../shell/prompt.ts";
import type { Context } from "../shell/verb.ts";

/** Returns the sign-in state of one server. Does not connect to the server. */
type ReadSignIn = (definition: ServerDefinition) => Promise<SignInState>;

/** Opens the token store and returns a function that reads sign-in states from it. */
export function signInReader({ locations, environment, settings }: Configuration): ReadSignIn {
  const { env, platform } = environment;
  const storage = openTokenStorage({ state: locations.state, env, platform });
  const secret = readSecret({ locations, environment });
  const { googleHosts } = settings.host;
  const facts = { folder: locations.state, storage, secret, googleHosts, now: Date.now };
  return (definition) => signInStateOf(definition, facts);
}

/** Returns a function that reads a stored secret by name. The function returns undefined for an unknown name. */
export function readSecret({
  locations,
  environment: { env, platform },
}: Pick<Configuration, "locations" | "environment">): (name: string) => Promise<string | undefined> {
  return async (name) => (await openSecretStore({ directory: locations.state, env, platform })).get(name);
}

// Prints the sign-in state of every server, without connecting to any server.

/** One row of the output: the sign-in state of a server, or the problem of an invalid entry. */
type Row = { readonly name: string } & ({ readonly signIn: SignInState } | { readonly problem: string });

/** Prints the sign-in states, and the command that signs in to each server that needs it. */
export async function showSignIns(configuration: Configuration, { out, globals }: Context): Promise<void> {
  const read = signInReader(configuration);
  const rows: Row[] = [];
  for (const { server, admission } of configuration.servers) {
    const { name, kind, definition } = server;
    if (kind === "stdio") continue;
    if (admission.status === "disconnected") rows.push({ name, problem: admission.message });
    else if (admission.status === "admitted" && definition !== undefined)
      rows.push({ name, signIn: await read(definition) });
  }
  if (globals.json) return out.json({ servers: rows.map(rowDocument) });
  if (rows.length === 0) return out.show(safe`No server needs a sign-in: no server that may start has a URL.`);
  out.show(table(rows.map((row) => [out.style.bold(toVisibleLine(row.name)), rowWords(row)])));
  const needing = rows.filter((row) => "signIn" in row && row.signIn.state === "needed");
  for (const { name } of needing) out.say(safe`next: fairlead mcp auth ${toSafeLine(toShellWord(name))}`);
  if (needing.length === 0) out.say(safe`next: fairlead mcp list   (connects, and shows which servers need a sign-in)`);
}

function rowWords(row: Row): SafeText {
  return "signIn" in row ? signInWords(row.signIn) : safe`cannot start: ${toVisibleLine(row.problem)}`;
}

function rowDocument(row: Row): object {
  return "signIn" in row ? { name: row.name, signIn: signInDocument(row.signIn) } : row;
}

// If Gemini CLI has stored tokens for a server, asks the user once whether Fairlead may use them.

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
