/** Opens a session for a connection of a host's server, with what the connection declares and who answers its questions. */

import type { JsonObject, NegotiatedProtocol } from "@fairlead/wire";
import { isLaunched } from "../connect/connect-timeout.ts";
import type { OpenedRelay, RelayOptions } from "../connect/open-relay.ts";
import type { HostQuestion, OpenedSession, OpenOptions } from "../connect/open-session.ts";
import type { ConnectContext } from "../connect/prepare-connection.ts";
import { HostError } from "../errors.ts";
import type { DeclaredCapabilities } from "../host/gateway-types.ts";
import type { ToolConfirmationOutcome } from "../policy/confirmation.ts";
import type { AskForHost, HostAnswer } from "../sandbox/wanted-hosts.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import { checkApprovedPrograms } from "../trust/admit.ts";
import type { Connection, ConnectionOptions } from "./connection.ts";
import { elicitationCapability } from "./elicitation.ts";
import { type Answering, answerRequests } from "./requests.ts";
import { rootsFor } from "./roots.ts";
import type { ConnectionPurpose, Server } from "./server.ts";
import { notConnectedError } from "./server-state.ts";
import type { ServerContext } from "./servers.ts";
import { viewsDeclared } from "./tool-view.ts";

/** How many requests (elicitation and sampling) a server may send in a minute. */
const questionsPerMinute = 5;

/** A server that may run in the background host. */
export interface HostedServer {
  readonly name: string;
  /** `Server.identity`. The background host opens the session only if its own server has the same identity. */
  readonly identity: string;
  /** `Server.isStateless`. */
  readonly isStateless: boolean;
}

/**
 * Opens a session of a server that runs in the background host. Resolves with undefined if this process must start or
 * reach the server itself.
 *
 * @throws HostError with the reason why the background host could not connect the server
 */
export type OpenInBackground = (server: HostedServer, options: OpenOptions) => Promise<OpenedSession | undefined>;

/** Asks about a host, as `name:port`, that a program wants to reach from its sandbox. The connection is the program's. */
export type AskForServersHost = (
  serverName: string,
  host: string,
  connection: Connection,
  signal: AbortSignal,
  earlier?: HostAnswer,
) => Promise<HostAnswer>;

/** Shows the user of this process a question of the background host about a host. Undefined if there is no answer. */
export type RelaysHostQuestion = (
  serverName: string,
  question: HostQuestion,
  connection: Connection,
  signal: AbortSignal,
) => Promise<ToolConfirmationOutcome | undefined>;

/** Returns the function that opens the sessions of a connection. */
export function createOpener(
  server: Server,
  purpose: ConnectionPurpose,
  context: ServerContext,
  connection: () => Connection,
): ConnectionOptions["open"] {
  if (server.isDemo)
    return async () => {
      const { createDemoSession } = await import("../demo/session.ts");
      return createDemoSession({ clock: context.clock });
    };
  const answering = answeringFor(server, purpose, context);
  const { greeting, background } = context.options;
  const { name } = server;
  return async (opening) => {
    const definition = startable(server);
    const load = () => import("../connect/open-session.ts");
    const [loaded, { isFirstRun, era: cached }] = await Promise.all([
      // With a background host, this process usually starts no server.
      background === undefined ? load() : undefined,
      server.beforeOpen(connection()),
    ]);
    const connecting = await context.connecting();
    await checkPrograms(server, definition, connecting);
    // A host's listeners follow the shared connection, as its state events do. The log file has what all programs print.
    const emit: typeof context.emit = (event) => connection() === server.shared && context.emit(event);
    if (isFirstRun && isLaunched(definition.resolved ?? definition.transport)) emit({ type: "fetching", server: name });
    const onStderrLine = (line: string): void => emit({ type: "stderr", server: name, line });
    const { traces } = connection();
    const shared = connection().isRestarted
      ? undefined
      : await background?.(server, {
          ...opening,
          answering,
          onStderrLine,
          greetingMeta: traces?.connectingMeta,
          onHostQuestion: (question, signal) => context.relayHostQuestion(name, question, connection(), signal),
        });
    if (shared !== undefined) return shared;
    const { openSession } = loaded ?? (await load());
    const greetingMeta = await greeting?.meta(server);
    const openWith = (meta: JsonObject | undefined): Promise<OpenedSession> =>
      openSession(definition, withHosts(server, connecting, context, connection()), {
        ...opening,
        ...(meta && { greetingMeta: meta }),
        ...(greeting && { accepts: (answer, serverInfo) => greeting.accepts(server, answer, serverInfo) }),
        isFirstRun,
        onStderrLine,
        era: chosenEra(purpose.era, definition, cached),
        answering,
        observe: (step) => server.observe(step),
      });
    return traces ? traces.greeting((meta) => openWith({ ...greetingMeta, ...meta })) : openWith(greetingMeta);
  };
}

/**
 * Opens a relay with its own connection to the server. Other connections are not affected. The trust and approval rules
 * of a normal connection apply.
 *
 * @throws HostError with the reason why the server is not allowed to start or could not be reached
 */
export async function openRelayTo(server: Server, context: ServerContext, options: RelayOptions): Promise<OpenedRelay> {
  if (server.isDemo)
    throw new HostError("usage", `"${server.name}" cannot be recorded: it is built into Fairlead`, {
      serverName: server.name,
    });
  const definition = startable(server);
  const connecting = await context.connecting();
  await checkPrograms(server, definition, connecting);
  const { openRelay } = await import("../connect/open-relay.ts");
  return openRelay(definition, connecting, options);
}

/** Gives the program's sandbox the questions of its server. */
function withHosts(
  server: Server,
  connecting: ConnectContext,
  { askForHost }: ServerContext,
  connection: Connection,
): ConnectContext {
  if (connecting.sandbox === undefined || server.definition?.sandbox === undefined) return connecting;
  const ask: AskForHost = (host, signal, earlier) => askForHost(server.name, host, connection, signal, earlier);
  return { ...connecting, sandbox: { ...connecting.sandbox, ask, wanted: server.wantedHosts } };
}

function startable(server: Server): ServerDefinition {
  if (server.definition === undefined) throw notConnectedError(server.state);
  return server.definition;
}

async function checkPrograms(server: Server, definition: ServerDefinition, connecting: ConnectContext): Promise<void> {
  if (server.scope === "workspace" && !server.configuration.trust.approvesEntries)
    await checkApprovedPrograms(definition, connecting);
}

/** The protocol to try first. If the server does not support it, `@fairlead/wire` tries other protocols. */
function chosenEra(
  era: ConnectionPurpose["era"],
  { transport }: Pick<ServerDefinition, "transport">,
  cached: NegotiatedProtocol | undefined,
): NegotiatedProtocol | undefined {
  if (era === undefined || cached?.era === era) return cached;
  if (transport.kind === "stdio") return { era, transport: "stdio" };
  if (era === "modern") return { era, transport: "http" };
  return { era, transport: transport.kind === "sse" ? "sse" : "http" };
}

function answeringFor(server: Server, purpose: ConnectionPurpose, context: ServerContext): Answering | undefined {
  if (purpose.declare !== undefined) return declared(server, purpose.declare, purpose.onQuestion);
  const { elicit, sample, onUnaskable, views = false } = context.options;
  const definition = startable(server);
  const roots = rootsFor(definition, server.configuration);
  const answerers = {
    roots: roots.length > 0 ? roots : undefined,
    elicit,
    onUnaskable,
    sample: definition.extras.sampling ? sample : undefined,
    extensions: views && definition.extras.views !== "off" ? viewsDeclared.extensions : undefined,
  };
  return answerRequests(server.name, answerers, { perMinute: questionsPerMinute, clock: context.clock });
}

/** For a gateway: the capabilities declared to the server, and the function that answers the server's requests. */
function declared(
  server: Server,
  { elicitation, sampling, roots, extensions }: DeclaredCapabilities,
  onQuestion: ConnectionPurpose["onQuestion"],
): Answering {
  return {
    capabilities: {
      elicitation: elicitation ? elicitationCapability : undefined,
      sampling: sampling ? {} : undefined,
      roots: roots && server.mayHaveRoots ? { listChanged: true } : undefined,
      extensions,
    },
    // The lists of a modern server are read once for all clients. Each client's own request says what the client supports.
    modernExtensions: viewsDeclared.extensions,
    async onRequest(...question) {
      if (onQuestion) return onQuestion(server.name, ...question);
      throw new HostError("usage", `${question[0].slice(0, 100)} refused: no client can answer it`);
    },
  };
}
