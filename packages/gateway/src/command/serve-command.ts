/**
 * Serves a command such as `fairlead call`: connects the server that the command wants, and passes the command's requests
 * on. The command has decided about each request and records it, so the host does neither.
 */

import type { HostQuestion } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { ServerState } from "@fairlead/core/events";
import type { ConfirmPort } from "@fairlead/core/policy";
import { type BeginningRequest, decidedMethods, decidedSubject } from "@fairlead/core/request";
import { type Connection, notConnectedError, rootsFor, type Server } from "@fairlead/core/server";
import { readTraceContext } from "@fairlead/core/telemetry";
import { type JsonObject, WireError } from "@fairlead/wire";
import { objectOf, stringOf } from "@fairlead/wire/json";
import {
  type OpenChannel,
  type RequestId,
  type ServedClient,
  type ServedRequest,
  type ServedSession,
  serveClient,
} from "@fairlead/wire/serve";
import type { ConsoleOptions, OpenedConsole } from "../console-port.ts";
import type { ClientWorkspace } from "../workspaces.ts";
import {
  askHostMethod,
  type ControlledServer,
  closedMethod,
  identityDigest,
  type ListenRequest,
  listenHttpMethod,
  newAddressMethod,
  notifyMethod,
  type OpenedServer,
  openConsoleMethod,
  openMethod,
  otherServer,
  restartMethod,
  type SentOptions,
  stderrMethod,
  stopMethod,
  toRpcFailure,
  writtenError,
} from "./session-messages.ts";

/** What a command needs from the gateway. */
export interface CommandContext {
  readonly workspace: ClientWorkspace;
  /** Identifies the command's process. */
  readonly id: string;
  /** The command, as a person reads it. */
  readonly name: string;
  /** Asks a person who sees the inbox about a host. */
  readonly confirmHost: (serverName: string, until: AbortSignal) => ConfirmPort;
  /** Called for each request. Returns the function that is called when the request has ended. */
  readonly onOpen: () => () => void;
  /** Listens for HTTP clients in the command's workspace. */
  readonly listen: (request: ListenRequest) => Promise<{ readonly url: string; close(): Promise<void> }>;
  /** Opens a console of the command's workspace. */
  readonly openConsole: (options: ConsoleOptions) => Promise<OpenedConsole>;
}

/** Serves a command in its workspace until it disconnects. */
export function serveCommand(open: OpenChannel, context: CommandContext): ServedClient {
  return serveClient(open, (client) => {
    const command = new ServedCommand(client, context);
    void client.closed.finally(() => command.end()).catch(() => undefined);
    return command;
  });
}

/** The connection that a command uses. */
interface OpenedConnection {
  readonly connection: Connection;
  /** The id of the connection's session. The session of a restarted server has another one. */
  readonly session: string | undefined;
  readonly serverName: string;
  readonly release: () => void;
}

/** One command, which uses one server. */
class ServedCommand implements ServedSession {
  readonly #client: ServedClient;
  readonly #context: CommandContext;
  /** The requests that are passed on to the server. */
  readonly #passed = new Set<Promise<unknown>>();
  #opened: OpenedConnection | undefined;
  #listener: { close(): Promise<void> } | undefined;
  #console: OpenedConsole | undefined;
  #isEnded = false;

  constructor(client: ServedClient, context: CommandContext) {
    this.#client = client;
    this.#context = context;
  }

  async request(method: string, params: JsonObject, request: ServedRequest): Promise<JsonObject> {
    const done = this.#context.onOpen();
    try {
      return await this.#answer(method, params, request);
    } catch (error) {
      throw toRpcFailure(error);
    } finally {
      done();
    }
  }

  notification(method: string, params: JsonObject): void {
    if (method !== notifyMethod) return;
    this.#opened?.connection
      .notify(stringOf(params["method"]) ?? "", objectOf(params["params"]))
      // The end of the session is reported by itself.
      .catch(() => undefined);
  }

  /** The command has disconnected. Its servers keep running. */
  end(): void {
    this.#isEnded = true;
    this.#opened?.release();
    this.#opened = undefined;
    void this.#listener?.close();
    void this.#console?.close();
  }

  async #answer(method: string, params: JsonObject, request: ServedRequest): Promise<JsonObject> {
    const name = stringOf(params["server"]) ?? "";
    switch (method) {
      case openMethod:
        return this.#open(name, stringOf(params["identity"]) ?? "", params);
      case stopMethod:
        return this.#control(name, "stop");
      case restartMethod:
        return this.#control(name, "restart");
      case listenHttpMethod:
        // The command of the same build has written it.
        return this.#listen(params as JsonObject & ListenRequest);
      case openConsoleMethod:
        return this.#openConsole(params as JsonObject & ConsoleOptions);
      case newAddressMethod:
        return { address: this.#console?.newAddress() };
      default:
        return this.#pass(method, params, request);
    }
  }

  async #open(name: string, identity: string, { isFresh, trace }: JsonObject): Promise<JsonObject> {
    const server = await this.#sameServer(name, identity);
    if (server === undefined) return otherServer;
    const { host } = this.#context.workspace;
    const connection = await this.#connectionOf(server);
    const release = connection.use();
    const tell = (method: string, params: JsonObject): void =>
      void this.#client.notify(method, params).catch(() => undefined);
    const stopListening = host.on("stderr", ({ server: from, line }) => {
      if (from === name) tell(stderrMethod, { line });
    });
    // The command decides by the lists. It reads them again, as the host does.
    const stopFollowing = host.on("list_changed", ({ server: from, list }) => {
      if (from === name) tell(`notifications/${list}/list_changed`, {});
    });
    try {
      const isRunning = connection.isReady;
      const start = (): Promise<Connection> => connection.startForClient();
      const tracing = host.telemetry.current;
      // The spans of connecting are a part of the command's span.
      await (tracing ? tracing.within(readTraceContext(trace), start) : start());
      if (isRunning && isFresh === true) await connection.discover();
      await Promise.all(lists.map(async (list) => connection.upToDate(list)));
      const opened = openedServer(connection);
      const stopWatching = this.#reportEnd(connection);
      const end = (): void => {
        stopWatching();
        stopFollowing();
        release();
      };
      if (this.#isEnded) end();
      else this.#opened = { connection, session: connection.connectionId, serverName: name, release: end };
      return opened;
    } catch (error) {
      stopFollowing();
      release();
      throw error;
    } finally {
      stopListening();
    }
  }

  /** The server of this name; undefined if the command's settings define it differently. */
  async #sameServer(name: string, identity: string): Promise<Server | undefined> {
    const { host } = this.#context.workspace;
    const find = (): Server | undefined => {
      const server = host.gateway.servers.find(name);
      return server !== undefined && identityDigest(server.identity) === identity ? server : undefined;
    };
    const found = find();
    if (found !== undefined) return found;
    // The settings may have changed a moment ago. If they cannot be read, the command starts the server itself.
    await host.reload().catch(() => undefined);
    return find();
  }

  /**
   * The connection that commands use: the shared one. If the server must not be shared, all commands together are one
   * client, so that the server keeps its state between them. A server that asks without saying during which request
   * gets a connection for each command that runs at the same time.
   */
  async #connectionOf(server: Server): Promise<Connection> {
    const shared = await server.sharedFor("modern");
    if (server.shareOf(shared) === "all") return shared;
    const purpose = {
      declare: { elicitation: true, sampling: false, roots: true },
      onQuestion: async (
        asker: string,
        method: string,
        params: JsonObject,
        signal: AbortSignal,
      ): Promise<JsonObject> => {
        if (method === "roots/list" && server.definition !== undefined)
          return { roots: rootsFor(server.definition, server.configuration).map((root) => ({ ...root })) };
        server.noteAsksBack();
        const asked = this.#context.workspace.host.person.ask(asker, method, params, signal);
        if (asked !== undefined) return asked;
        throw new Error(`"${asker}" sent ${method}, but Fairlead cannot tell which command should answer`);
      },
    };
    const common = server.other("commands", purpose);
    return server.asksBack && common.isUsed ? server.other(this.#context.workspace.idIn("modern"), purpose) : common;
  }

  /** Tells the command when its session has ended, after the answers to its requests. */
  #reportEnd(connection: Connection): () => void {
    const stop = connection.onState((state: ServerState) => {
      if (state.status !== "disconnected" && state.status !== "needs_auth") return;
      stop();
      const error = state.reason === "lazy" ? undefined : writtenError(notConnectedError(state));
      void Promise.allSettled(this.#passed)
        .then(() => this.#client.notify(closedMethod, { error }))
        .catch(() => undefined);
    });
    return stop;
  }

  /** Passes a request on to the server. `given` is a `PassedRequest`. */
  async #pass(method: string, given: JsonObject, request: ServedRequest): Promise<JsonObject> {
    const opened = this.#opened;
    if (opened === undefined) throw new HostError("usage", "the command has not opened a server");
    const { connection, serverName, session } = opened;
    if (connection.connectionId !== session)
      throw new WireError("closed", `"${serverName}" was restarted`, { unsent: true });
    // The command of the same build has written the options.
    const { meta, ...options } = objectOf(given["options"]) as SentOptions;
    const sent = objectOf(given["params"]);
    // Where the parameters have a trace context, the request already has a span: the command has made it.
    const params = meta === undefined ? sent : { ...sent, _meta: { ...objectOf(sent["_meta"]), ...meta } };
    const token = objectOf(given["_meta"])["progressToken"];
    const stop = new AbortController();
    const signal = AbortSignal.any([request.signal, stop.signal]);
    const confirm = this.#askAboutHost(request);
    const asked = { serverName, connection, confirm };
    const running = this.#begin(asked, method, params, request.signal, { signal, stop });
    const passed = connection.request(whatOf(serverName, method, params), method, params, {
      ...options,
      timeout: options.timeout ?? Number.POSITIVE_INFINITY,
      signal,
      owner: this.#context.id,
      onProgress: (progress) => this.#tell("notifications/progress", { ...progress, progressToken: token }, request.id),
      onNotification: (name, about) => this.#tell(name, about, request.id),
      answer: (asked, question, signal) => this.#client.request(asked, question, { about: request.id, signal }),
    });
    this.#passed.add(passed);
    try {
      const result = await passed;
      running?.ended(result["isError"] === true ? "tool_error" : "ok", { result });
      return result;
    } catch (error) {
      running?.ended(signal.aborted ? "cancelled" : error instanceof HostError ? error.code : "internal", { error });
      throw error;
    } finally {
      this.#passed.delete(passed);
    }
  }

  /** Shows a call, read or prompt of the command to a program that watches the host's requests. */
  #begin(
    asked: Pick<BeginningRequest, "serverName" | "connection" | "confirm">,
    method: string,
    params: JsonObject,
    given: AbortSignal,
    work: { readonly signal: AbortSignal; readonly stop: AbortController },
  ): ReturnType<ClientWorkspace["host"]["requests"]["begin"]> | undefined {
    const { workspace, name } = this.#context;
    const { kind, serverToolName } = decidedMethods.has(method) ? (decidedSubject(method, params) ?? {}) : {};
    if (serverToolName === undefined) return undefined;
    const args = objectOf(params["arguments"]);
    const request = { ...asked, who: "user", client: name, kind, serverToolName, args, signal: given } as const;
    return workspace.host.requests.begin(request, work);
  }

  /**
   * Asks the command's user about a host that the server wants, and a person who sees the inbox if the command has no
   * terminal to ask on.
   */
  #askAboutHost({ id: about }: ServedRequest): ConfirmPort {
    return async (question, until = new AbortController().signal) => {
      const details = await question();
      if (details === false) return;
      const { serverName, toolName: host, rule, outcomes } = details;
      const asked: HostQuestion = { host, reason: rule?.text ?? "", outcomes };
      const answer = await this.#client
        .request(askHostMethod, { ...asked }, { about, signal: until })
        .catch(() => ({}));
      const outcome = outcomes.find((each) => each === objectOf(answer)["outcome"]);
      if (outcome !== undefined) return details.onConfirm(outcome);
      await this.#context.confirmHost(serverName, until)(question, until);
    };
  }

  #tell(method: string, params: JsonObject, about: RequestId): void {
    // A command that has disconnected needs no progress.
    void this.#client.notify(method, params, about).catch(() => undefined);
  }

  async #listen(wanted: ListenRequest): Promise<JsonObject> {
    const listener = await this.#context.listen(wanted);
    this.#listener = listener;
    if (this.#isEnded) await listener.close();
    return { url: listener.url };
  }

  async #openConsole(wanted: ConsoleOptions): Promise<JsonObject> {
    const opened = await this.#context.openConsole(wanted);
    this.#console = opened;
    const address = opened.newAddress();
    if (this.#isEnded) await opened.close();
    return { address };
  }

  async #control(name: string, action: "stop" | "restart"): Promise<JsonObject> {
    const server = this.#context.workspace.host.gateway.servers.get(name);
    const wasRunning = server.hasConnection;
    if (action === "stop") await server.stop();
    else await server.restart();
    const isFailed = action === "restart" && !server.hasConnection;
    const error = isFailed ? writtenError(notConnectedError(server.state)) : undefined;
    const controlled: ControlledServer = { wasRunning, error };
    return { ...controlled };
  }
}

const lists = ["tools", "prompts", "resources"] as const;

function openedServer(connection: Connection): JsonObject {
  const { filteredCatalog, peer, capabilities } = connection;
  if (filteredCatalog === undefined || peer === undefined) throw notConnectedError(connection.state);
  const { catalog, hidden, offer: counts } = filteredCatalog;
  const opened: OpenedServer = { peer, capabilities, catalog, hidden: [...hidden], counts };
  return { ...opened };
}

/** The name of a request in error messages, as `Connection` gives it. */
function whatOf(serverName: string, method: string, params: JsonObject): string {
  switch (method) {
    case "tools/call":
      return `${serverName}.${stringOf(params["name"])}`;
    case "prompts/get":
      return `prompt ${stringOf(params["name"])} of ${serverName}`;
    case "resources/read":
      return `${stringOf(params["uri"])} of ${serverName}`;
    case "completion/complete":
      return `completion of ${serverName}`;
    default:
      return `${method.slice(0, 100)} of ${serverName}`;
  }
}
