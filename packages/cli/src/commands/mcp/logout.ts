/** `fairlead mcp logout`: deletes stored tokens, and revokes them at the authorization server if possible. */

import {
  type Credentials,
  canonicalServerUrl,
  createSignInLock,
  evenIfBusy,
  type MCPOAuthTokenStorage,
  openTokenStorage,
  pinOf,
  type Revocation,
  revokeTokens,
  type SignInLock,
  signInFolder,
  urlOf,
} from "@fairlead/core/auth";
import { createBoundedFetch } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { readSecret } from "../../sign-in/read-state.ts";
import { findServer } from "./find-server.ts";

interface Outcome {
  readonly credentials: Credentials;
  readonly revocation: Revocation;
}

export const verb: Verb = {
  help: `
Revokes the tokens at the authorization server, if it supports that, and deletes the tokens and the client registration
here. Fairlead warns about tokens that could not be revoked: they may stay valid until they expire.

Examples:
  fairlead mcp logout github
  fairlead mcp logout --all`,

  define(command) {
    command
      .argument("[name]", "name of the server (see: fairlead mcp list), or its name at the time of sign-in")
      .option("--all", "sign out of every server, including servers that are no longer configured");
  },

  async run(context) {
    const { out, globals, command, operands } = context;
    const [name] = operands;
    const { all: isAll = false } = command.opts<{ all?: boolean }>();
    if ((name === undefined) !== isAll)
      throw new HostError("usage", "give one server name, or --all", { next: "fairlead mcp auth" });
    const configuration = await configurationOf(context);
    const { env, platform } = configuration.environment;
    const storage = openTokenStorage({ state: configuration.locations.state, env, platform });
    const found = name === undefined ? await storage.everything() : await credentialsOf(name, configuration, storage);
    const lock = createSignInLock(signInFolder(configuration.locations.state));
    const outcomes = await Promise.all(found.map((credentials) => signOut(credentials, { storage, lock, env })));
    // `clearAll` deletes even credentials that could not be read.
    if (isAll) await storage.clearAll();
    if (globals.json) return out.json({ servers: outcomes.map(outcomeDocument) });
    if (outcomes.length === 0)
      out.show(name === undefined ? safe`No server is signed in.` : safe`"${toVisibleLine(name)}" is not signed in.`);
    for (const outcome of outcomes) tell(outcome, context);
  },
};

/**
 * Finds stored credentials by the server's URL and by its name at sign-in, because the entry may have changed since
 * then.
 */
async function credentialsOf(
  name: string,
  configuration: Configuration,
  storage: MCPOAuthTokenStorage,
): Promise<readonly Credentials[]> {
  const definition = configuration.servers.find(({ server }) => server.name === name)?.server.definition;
  const url = definition && canonicalServerUrl((await urlOf(definition, readSecret(configuration))) ?? "");
  const pin = definition && (await pinOf(definition));
  const found = (await storage.everything()).filter(
    (stored) => stored.serverName === name || (canonicalServerUrl(stored.serverUrl) === url && stored.pin === pin),
  );
  if (found.length === 0) findServer(configuration, name);
  return found;
}

/**
 * Deletes the credentials even if revoking fails. First waits for a running token refresh, to revoke the new token too.
 */
function signOut(
  found: Credentials,
  {
    storage: all,
    lock,
    env,
  }: {
    readonly storage: MCPOAuthTokenStorage;
    readonly lock: SignInLock;
    readonly env: Configuration["environment"]["env"];
  },
): Promise<Outcome> {
  const { serverUrl, pin } = found;
  const storage = all.pinned(pin);
  const fetch = createBoundedFetch({ near: serverUrl, env, maxRedirects: 0 });
  const end = async (): Promise<Outcome> => {
    const credentials = (await storage.getCredentials(serverUrl)) ?? found;
    const revocation = await revokeTokens(credentials, fetch);
    await storage.deleteCredentials(serverUrl);
    return { credentials, revocation };
  };
  return storage.nameOf(serverUrl).then((name) => evenIfBusy(lock, name, end));
}

function tell({ credentials, revocation }: Outcome, { out }: Context): void {
  out.show(outcomeWords(credentials, revocation));
  if (credentials.tokens !== undefined && revocation !== "revoked") out.warn(notRevoked(credentials, revocation));
}

function outcomeWords({ serverName, issuer, tokens }: Credentials, revocation: Revocation): SafeText {
  const [name, where] = [toVisibleLine(serverName), toVisibleLine(issuer)];
  if (tokens === undefined) return safe`deleted the client registration of "${name}" at ${where}`;
  return revocation === "revoked"
    ? safe`signed out of "${name}"; its tokens are revoked at ${where}`
    : safe`signed out of "${name}" on this machine`;
}

function notRevoked({ issuer, tokens }: Credentials, revocation: Exclude<Revocation, "revoked">): SafeText {
  const why =
    revocation === "unsupported"
      ? safe`${toVisibleLine(issuer)} does not support revoking tokens`
      : safe`${toVisibleLine(issuer)} did not revoke the tokens`;
  const end = tokens?.expiresAt;
  const until =
    tokens?.refreshToken !== undefined || end === undefined
      ? safe`the tokens may stay valid; to be sure, revoke Fairlead's access on the website of the authorization server`
      : safe`the tokens may stay valid until ${toSafeLine(new Date(end).toISOString())}`;
  return safe`warning: ${why}; ${until}`;
}

function outcomeDocument({ credentials: { serverName, serverUrl, issuer }, revocation }: Outcome): object {
  return { name: serverName, url: new URL(serverUrl).origin, issuer, revocation };
}
