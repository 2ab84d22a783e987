/** `connect --list`: shows which clients have an entry for Fairlead, and tests each entry with real requests. */

import { HostError } from "@fairlead/core/errors";
import { type ClientEntry, fromForeignEntry, ownEntryName } from "@fairlead/core/settings/own-server";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { ClientTokenInfo } from "@fairlead/gateway/tokens/client-tokens";
import { errorDocument } from "../output/error-lines.ts";
import { count, table } from "../output/output.ts";
import { ageWords } from "../output/time-text.ts";
import type { Context } from "../shell/verb.ts";
import { type ClientName, clientNames, clients } from "./client.ts";
import { listClientTokens } from "./client-entry.ts";
import { clientFile, isInstalled } from "./client-places.ts";
import { openClientText } from "./client-text.ts";
import { readClientFile } from "./connect-client.ts";
import { type EntryTest, tryEntry } from "./try-entry.ts";

/**
 * State of a client. `works`: Fairlead answered the test requests. `fails`: Fairlead did not answer. `absent`: the
 * client's file has no entry for Fairlead. `broken`: the client's file cannot be read.
 */
type ClientState = "works" | "fails" | "absent" | "broken";

interface ListedClient {
  readonly client: ClientName;
  readonly file: string;
  readonly state: ClientState;
  readonly transport?: ClientEntry["kind"];
  readonly tools?: number;
  readonly error?: HostError;
}

/** Lists the named clients. Without names, lists the clients that are installed or connected. */
export async function listClients(
  names: readonly ClientName[],
  configuration: Configuration,
  context: Context,
): Promise<void> {
  const { out, globals } = context;
  const wanted = names.length > 0 ? names : clientNames;
  const found = await Promise.all(wanted.map((client) => lookAt(client, configuration, context)));
  const tokens = (await listClientTokens(configuration.locations.state)).filter(
    ({ client }) => names.length === 0 || names.some((name) => name === client),
  );
  const installed = await Promise.all(wanted.map((client) => isInstalled(client, configuration.environment)));
  const listed = found.filter(({ state }, at) => names.length > 0 || state !== "absent" || installed[at]);
  if (globals.json)
    return out.json({
      clients: listed.map(({ error, ...rest }) => ({
        id: rest.client,
        name: clients[rest.client].title,
        ...rest,
        files: [rest.file],
        title: clients[rest.client].title,
        connected: rest.state === "works" || rest.state === "fails",
        error: error && errorDocument(error),
      })),
      tokens: tokens.map(({ client, createdAt }) => ({ client, since: new Date(createdAt).toISOString() })),
    });
  if (listed.length === 0 && tokens.length === 0)
    return out.say(safe`no MCP client found on this machine\n  next: fairlead connect --help`);
  if (listed.length > 0)
    out.show(table(listed.map((one) => [safe`${toSafeLine(one.client)}`, stateWords(one), toSafeLine(one.file)])));
  for (const client of new Set(tokens.map((token) => token.client)))
    out.show(
      tokenLine(
        client,
        tokens.filter((token) => token.client === client),
      ),
    );
  for (const { client, error } of listed)
    if (error !== undefined)
      out.warn(
        safe`${toSafeLine(client)}: ${toVisibleLine(error.message)}${error.next === undefined ? safe`` : safe`\n  next: ${toSafeLine(error.next)}`}`,
      );
}

function tokenLine(client: string, tokens: readonly ClientTokenInfo[]): SafeText {
  const newest = Math.max(...tokens.map(({ createdAt }) => createdAt));
  const made = safe`${tokens.length === 1 ? safe`made` : safe`the newest made`} ${ageWords(Date.now() - newest)} ago`;
  const revoke = safe`fairlead disconnect ${toSafeLine(toShellWord(client))}`;
  return safe`${toVisibleLine(client)} has ${count(tokens.length, "token")} for fairlead serve --http, ${made}; to revoke: ${revoke}`;
}

async function lookAt(client: ClientName, { environment }: Configuration, context: Context): Promise<ListedClient> {
  const file = await clientFile(client, environment);
  try {
    const { servers } = await openClientText(client, file, await readClientFile(file));
    const entry = fromForeignEntry(servers.get(ownEntryName)?.value);
    if (entry === undefined) return { client, file, state: "absent" };
    return { client, file, transport: entry.kind, ...outcome(client, await tryEntry(entry, context)) };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { client, file, state: "broken", error };
  }
}

function outcome(client: ClientName, test: EntryTest): Pick<ListedClient, "state" | "tools" | "error"> {
  if (test.works) return { state: "works", tools: test.tools };
  const error = new HostError("unreachable", `the client cannot reach Fairlead through its entry: ${test.message}`, {
    next: `fairlead connect ${client}`,
  });
  return { state: "fails", error };
}

function stateWords({ state, tools = 0 }: ListedClient): SafeText {
  switch (state) {
    case "works":
      return safe`connected, ${count(tools, "tool")}`;
    case "fails":
      return safe`connected, Fairlead does not answer`;
    case "absent":
      return safe`not connected`;
    case "broken":
      return safe`cannot be read`;
  }
}
