/** `connect --list`: shows which clients have an entry for Fairlead, and tests each entry with real requests. */

import { clientInfo } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { toShellWord } from "@fairlead/core/plain-text";
import { type ClientEntry, fromForeignEntry, ownEntryName } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import type { ClientTokenInfo } from "@fairlead/gateway/tokens/client-tokens";
import { errorMessage } from "@fairlead/wire/text";
import { count, errorDocument, table } from "../output/output.ts";
import { ageWords } from "../output/time-text.ts";
import type { Context, Io } from "../shell/verb.ts";
import { type ClientName, clientNames, clients } from "./client.ts";
import { listClientTokens } from "./client-entry.ts";
import { clientFile, isInstalled } from "./client-places.ts";
import { openClientText } from "./client-text.ts";
import { readClientFile } from "./connect-client.ts";

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

// Tests a client's entry with real requests: connects as the client would, and lists the tools.

/** Whether the entry works. `tools` is the number of listed tools. */
type EntryTest = { readonly works: true; readonly tools: number } | { readonly works: false; readonly message: string };

/** The time limit in milliseconds, for connecting and listing the tools together. */
const testTimeout = 20_000;

/** Tests an entry for at most 20 seconds. Does not throw if the test fails. */
async function tryEntry(entry: ClientEntry, { io }: { readonly io: Io }): Promise<EntryTest> {
  const { connect, listAll } = await import("@fairlead/wire");
  const stop = new AbortController();
  let stderr = "";
  const abort = (): void => stop.abort();
  const timer = setTimeout(abort, testTimeout);
  io.signal.addEventListener("abort", abort, { once: true });
  try {
    const session = await connect(targetOf(entry, io), {
      clientInfo,
      signal: stop.signal,
      onStderr: (text) => {
        stderr = (stderr + text).slice(-1_000);
      },
    });
    try {
      const { items } = await listAll(session, "tools", { signal: stop.signal });
      return { works: true, tools: items.length };
    } finally {
      await session.close();
    }
  } catch (error) {
    const isLate = stop.signal.aborted && !io.signal.aborted;
    const reason = isLate ? `no answer within ${testTimeout / 1000} s` : errorMessage(error);
    const said = stderr.trim().split("\n").slice(0, 3).join(" ").trim();
    return { works: false, message: said === "" ? reason : `${reason}; stderr: ${said}` };
  } finally {
    clearTimeout(timer);
    io.signal.removeEventListener("abort", abort);
  }
}

function targetOf(entry: ClientEntry, { env, home }: Io): Parameters<typeof import("@fairlead/wire").connect>[0] {
  if (entry.kind === "http") return entry;
  const own = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return { ...entry, env: { ...Object.fromEntries(own), ...entry.env }, cwd: home };
}
