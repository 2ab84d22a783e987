/** The gateway: lets other MCP clients use the host's servers, over stdio, a socket or HTTP. */

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Clock, systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import type { OpenedHost } from "@fairlead/core/host";
import { toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import type { Era, JsonObject } from "@fairlead/wire";
import {
  type HttpListener,
  type HttpListenerOptions,
  type HttpSessions,
  listenHttp,
  type OpenChannel,
} from "@fairlead/wire/serve";
import { type Admit, type AdmittedClient, admitByToken, admitEverybody } from "./admission.ts";
import { type BridgeContext, createBridgeContext, type GatewayParts } from "./bridge/bridge-context.ts";
import { HeapGrowth } from "./bridge/heap-growth.ts";
import { type ClientEndpoint, clientAt, createModernContexts, toEndpoint } from "./bridge/modern-contexts.ts";
import { serveConnection } from "./bridge/serve-connection.ts";
import { createTaskIds } from "./bridge/tasks.ts";
import { createUpstreamLevels } from "./bridge/upstream-levels.ts";
import { serveCommand } from "./command/serve-command.ts";
import type { ListenRequest } from "./command/session-messages.ts";
import type { AsksPerson } from "./consent/consent.ts";
import type { ConsoleOptions, OpenConsole, OpenedConsole } from "./console-port.ts";
import type { GatewayClient } from "./gateway-client.ts";
import { type GatewayKey, loadGatewayKey } from "./gateway-key.ts";
import { createGatewayLoops } from "./gateway-loops.ts";
import { reachOf } from "./lists/client-reach.ts";
import { SeenNames } from "./lists/seen-names.ts";
import { createApprovalStore, type RequestStates } from "./questions/approval-store.ts";
import { createParkedCalls, type ModernRequest, type ParkedElsewhere } from "./questions/parked-calls.ts";
import type { SignInPort } from "./questions/sign-in-request.ts";
import { serverCardPage } from "./server-card.ts";
import { createClientTokens } from "./tokens/client-tokens.ts";
import { askInInbox, type ClientWorkspace, type CreateGatewayHost, type Workspace, Workspaces } from "./workspaces.ts";

export type { CreateGatewayHost, HostHooks, Workspace } from "./workspaces.ts";

/** How the gateway creates hosts and asks for confirmations. `version`: Fairlead's version. */
export interface GatewayOptions {
  readonly createHost: CreateGatewayHost;
  /** The gateway disposes it. */
  readonly consent: AsksPerson;
  /** Default: there are no consoles. */
  readonly openConsole?: OpenConsole;
  /** Fairlead's state folder, `~/.fairlead`. */
  readonly stateFolder: string;
  /** What several gateways share. Default: this gateway shares what is in its state folder. */
  readonly shared?: SharedParts;
  /** How the users of a team sign in to servers. Default: a request that needs a sign-in fails. */
  readonly signIns?: SignInPort | undefined;
  readonly version: string;
  readonly clock?: Clock;
  /** Returns the current time, in milliseconds since 1970. */
  readonly now?: () => number;
  /** Default: watches V8's heap. */
  readonly heap?: HeapGrowth;
}

/** What the replicas of a team share, so that a client may send each request to another one. */
export interface SharedParts {
  readonly key: GatewayKey;
  readonly states: RequestStates;
  readonly parked: ParkedElsewhere;
  readonly sessions: HttpSessions<ClientEndpoint>;
}

/** Where the gateway listens for HTTP clients, and who may send requests. */
export interface GatewayListenOptions extends Pick<HttpListenerOptions, "address" | "names" | "pageAt" | "limits"> {
  /** The port to listen on. Default: any free port. */
  readonly port?: number | undefined;
  readonly admit: Admit;
  /** The workspace whose host is opened before the first request. Default: hosts are opened by the first requests. */
  readonly workspace?: Workspace;
}

/** The clients and servers that `fairlead daemon status` shows. */
export interface GatewayStatus {
  readonly clients: readonly { readonly name: string; readonly since: number }[];
  readonly servers: readonly { readonly name: string; readonly status: string }[];
}

/** A running gateway. Dispose it to end all clients and hosts. */
export interface Gateway extends AsyncDisposable {
  /** Serves one client. Resolves when the client has disconnected. */
  serve(open: OpenChannel, client: GatewayClient, workspace: Workspace): Promise<void>;
  /**
   * Serves a command, such as `fairlead call`, which decides about its requests itself. Resolves when it has
   * disconnected.
   *
   * @param name The name that `status` shows.
   */
  serveCommand(open: OpenChannel, name: string, workspace: Workspace): Promise<void>;
  /** Listens for HTTP clients. All servers are at `/mcp`, one server is at `/mcp/<server>`. */
  listen(options: GatewayListenOptions): Promise<HttpListener>;
  /**
   * Continues a call that waits here, for a client that has sent its answers to another gateway.
   *
   * @throws WireError if the `requestState` is unknown, or belongs to another request
   */
  resumeParked(request: ModernRequest, requestState: string, answers: unknown): Promise<JsonObject>;
  /**
   * Opens a console of a workspace.
   *
   * @throws Error if the port is in use
   */
  openConsole(workspace: Workspace, options: ConsoleOptions): Promise<OpenedConsole>;
  /** Applies new settings to all hosts. Without this call, each host reads its own settings files again. */
  reload(next: (workspace: Workspace) => Configuration): Promise<void>;
  /**
   * Ends requests that only wait for news, and waits for all others, but at most for `longest` milliseconds. Returns how many
   * are still open.
   */
  drain(longest: number): Promise<number>;
  status(): GatewayStatus;
  /**
   * Returns the number of connected clients, open requests, and requests that wait for an answer of their client. 0
   * means idle.
   */
  activity(): number;
  /**
   * Calls `listener` when a client connects or disconnects, and when a request ends. Returns the function that stops
   * this.
   */
  onActivity(listener: () => void): () => void;
}

/** Milliseconds that a closing gateway waits for cancelled requests to end. */
const endTime = 2000;

/** Creates a gateway. It creates hosts when the first client needs them. */
export function createGateway(options: GatewayOptions): Gateway {
  const { createHost, consent, stateFolder, version, clock = systemClock, now = Date.now } = options;
  const { openConsole = noConsole, shared } = options;
  const { heap = new HeapGrowth() } = options;
  let loadedKey: Promise<GatewayKey> | undefined;
  const key = (): Promise<GatewayKey> =>
    (loadedKey ??= shared === undefined ? loadGatewayKey(stateFolder) : Promise.resolve(shared.key));
  const loops = createGatewayLoops(key);
  const serverInfo = { name: "fairlead", title: "Fairlead", version };
  const workspaces = new Workspaces({ createHost, loops, consent, self: serverInfo, clock });
  const draining = new AbortController();
  const parts: GatewayParts = {
    consent,
    states: shared?.states ?? createApprovalStore(join(stateFolder, "inbox-seals"), now),
    parked: createParkedCalls({ clock, ...(shared && { elsewhere: shared.parked }) }),
    signIns: options.signIns,
    levels: createUpstreamLevels(),
    tasks: createTaskIds(key),
    loops,
    heap,
    draining: draining.signal,
    serverInfo,
    clock,
    now,
  };
  const clients = new Set<{ readonly name: string; readonly since: number }>();
  const listeners = new Set<() => void>();
  const ending = new Set<() => Promise<void>>();
  let openRequests = 0;

  function changed(): void {
    for (const listener of listeners) listener();
  }

  function onOpen(): () => void {
    openRequests += 1;
    return () => {
      openRequests -= 1;
      heap.checkSoon();
      changed();
    };
  }

  /** Resolves when `count` is 0, but at the latest after `longest` milliseconds. */
  async function ended(count: () => number, longest: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = (): void => {
        listeners.delete(look);
        resolve();
      };
      const callOff = clock.after(longest, end, { background: true });
      const look = (): void => {
        if (count() > 0) return;
        callOff();
        end();
      };
      listeners.add(look);
      look();
    });
  }

  function enter(name: string): () => void {
    const entry = { name, since: now() };
    clients.add(entry);
    changed();
    return () => {
      clients.delete(entry);
      changed();
    };
  }

  function serve(
    open: OpenChannel,
    client: GatewayClient,
    workspace: Workspace,
    transport: "stdio" | "http" = "stdio",
  ): Promise<void> {
    return serveIn(workspace, client, (entered) =>
      serveConnection(open, createBridgeContext(parts, client, entered), onOpen, { isLasting: true, transport }),
    );
  }

  function serveForCommand(open: OpenChannel, name: string, workspace: Workspace): Promise<void> {
    const conversation = randomUUID();
    const listenFor = ({ port, hasTokens, client }: ListenRequest) => {
      const admit = hasTokens
        ? admitByToken(createClientTokens(stateFolder), workspace, client)
        : admitEverybody(client, workspace);
      return listen({ port, workspace, admit });
    };
    return serveIn(workspace, { name, conversation }, (entered) =>
      serveCommand(open, {
        workspace: entered,
        confirmHost: askInInbox(consent, entered.host),
        id: conversation,
        name,
        onOpen,
        listen: listenFor,
        openConsole: (wanted) => openConsoleIn(workspace, wanted),
      }),
    );
  }

  /** Serves a client or a command in its workspace. Resolves when it has disconnected. */
  async function serveIn(
    workspace: Workspace,
    { name, conversation }: Pick<GatewayClient, "name" | "conversation">,
    begin: (entered: ClientWorkspace) => { readonly closed: Promise<unknown>; close(): Promise<void> },
  ): Promise<void> {
    const leave = enter(name);
    const serving = workspaces.enter(workspace, conversation).then((entered) => {
      const served = begin(entered);
      const leaveWorkspace = async (): Promise<void> => {
        leave();
        await entered.close();
      };
      return { served, done: served.closed.then(leaveWorkspace, leaveWorkspace) };
    });
    serving.catch(leave);
    const done = serving.then((each) => each.done);
    // From the start, because the gateway may end while the client's host is being opened.
    const end = async (): Promise<void> => {
      await (await serving).served.close();
      await done;
    };
    ending.add(end);
    await done.finally(() => ending.delete(end));
  }

  async function listen({ port, admit, workspace: first, ...more }: GatewayListenOptions) {
    const modern = createModernContexts({ open: openContext, clock });
    /** The names that each modern client has seen. Its model may use them after any pause. */
    const seen = new SeenNames();
    const opened = first && (await workspaces.enter(first, randomUUID()));

    async function openContext(found: ClientEndpoint, conversation: string): Promise<BridgeContext> {
      const entered = await workspaces.enter(found.workspace, conversation);
      return createBridgeContext(parts, { ...clientAt(found, conversation), names: seen.of(found) }, entered);
    }

    /** An HTTP channel carries a whole legacy session, but only one modern request. */
    async function take(open: OpenChannel, era: Era, found: ClientEndpoint): Promise<void> {
      if (era === "legacy") return serve(open, clientAt(found, randomUUID()), found.workspace, "http");
      const { context, leave } = await modern.enter(found);
      const { closed } = serveConnection(open, context, onOpen, { isLasting: false, transport: "http" });
      closed.then(leave, leave);
    }

    /** Whether the client may use the server in its URL. Its host stays open for the requests that follow. */
    async function mayUse(only: string, { client, workspace }: AdmittedClient): Promise<boolean> {
      const entered = await workspaces.enter(workspace, randomUUID());
      const { servers } = reachOf({ ...client, only, conversation: "" }, entered.host);
      await entered.close();
      return servers.includes(only);
    }

    const listener = await listenHttp<ClientEndpoint>({
      ...more,
      ...(shared && { sessions: shared.sessions }),
      eras: ["modern", "legacy"],
      port,
      async admit(entry) {
        const only = serverIn(entry.path);
        if (only === undefined) return { status: 404, message: "MCP is at /mcp, or at /mcp/NAME for one server" };
        const admitted = await admit(entry);
        if ("status" in admitted) return admitted;
        // Before a session exists: a client could request any number of servers that do not exist.
        if (only !== "" && !(await mayUse(only, admitted))) return { status: 404, message: unknownServer(only) };
        const found = toEndpoint(admitted, only === "" ? undefined : only);
        return { owner: found.key, context: found, refusal: admitted.refusal };
      },
      onClient: take,
      pageAt: (path) =>
        more.pageAt?.(path) ??
        serverCardPage(path, serverIn, {
          version,
          originOf: (host) => more.names?.origins[0] ?? `http://${host ?? "localhost"}`,
          async refusal({ server: only, ...entry }) {
            const { host } = opened ?? {};
            if (host?.configuration.settings.host.publicServerCards === true)
              return only === "" || host.configuration.servers.some(({ server }) => server.name === only)
                ? undefined
                : { status: 404, message: unknownServer(only) };
            const admitted = await admit(entry);
            if ("status" in admitted) return admitted;
            return only === "" || (await mayUse(only, admitted))
              ? undefined
              : { status: 404, message: unknownServer(only) };
          },
        }),
      schemaOf: (found, tool) => modern.find(found)?.view().tools.get(tool)?.definition["inputSchema"],
    }).catch(async (error: unknown) => {
      await opened?.close();
      throw error;
    });
    const close = async (): Promise<void> => {
      ending.delete(close);
      await listener.close();
      await modern.close();
      await opened?.close();
    };
    ending.add(close);
    return { ...listener, close };
  }

  async function openConsoleIn(workspace: Workspace, wanted: ConsoleOptions): Promise<OpenedConsole> {
    const entered = await workspaces.enter(workspace, randomUUID());
    const opened = await openConsole(entered.host, wanted).catch(async (error: unknown) => {
      await entered.close();
      throw error;
    });
    const close = async (): Promise<void> => {
      ending.delete(close);
      await opened.close();
      await entered.close();
    };
    ending.add(close);
    return { newAddress: () => opened.newAddress(), close };
  }

  return {
    serve: (open, client, workspace) => serve(open, client, workspace),
    serveCommand: serveForCommand,
    listen,
    openConsole: openConsoleIn,
    resumeParked: (request, requestState, answers) => parts.parked.resume(request, requestState, answers),
    reload: (next) => workspaces.reload(next),
    async drain(longest) {
      draining.abort();
      const open = (): number => openRequests + parts.parked.size();
      await ended(open, longest);
      return open();
    },
    status: () => ({
      clients: [...clients],
      servers: statesOf(workspaces.hosts()),
    }),
    activity: () => clients.size + openRequests + parts.parked.size(),
    onActivity(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async [Symbol.asyncDispose]() {
      parts.parked.close();
      await Promise.allSettled([...ending].map((end) => end()));
      await ended(() => openRequests, endTime);
      await consent[Symbol.asyncDispose]();
      await workspaces[Symbol.asyncDispose]();
    },
  };
}

const noConsole: OpenConsole = async () => {
  throw new HostError("usage", "this gateway has no console");
};

/** A server counts as connected if it has a connection in at least one workspace. */
function statesOf(hosts: readonly OpenedHost[]): GatewayStatus["servers"] {
  const servers = hosts.flatMap(({ gateway }) => gateway.servers.all());
  const names = new Set(servers.map(({ name }) => name));
  return [...names].map((name) => {
    const same = servers.filter((server) => server.name === name);
    const isConnected = same.some(({ hasConnection }) => hasConnection);
    return { name, status: isConnected ? "connected" : (same[0]?.state.status ?? "disconnected") };
  });
}

function unknownServer(name: string): string {
  const shown = toSafeLine(name.slice(0, 200));
  return `server "${shown}" is not configured, or is not allowed for this client; to list the servers, run: fairlead mcp list`;
}

/** Returns the server in `/mcp/<server>`, an empty text for `/mcp`, or undefined for any other path. */
function serverIn(path: string): string | undefined {
  if (path === "/mcp" || path === "/mcp/") return "";
  const [, name] = /^\/mcp\/([^/]+)\/?$/.exec(path) ?? [];
  if (name === undefined) return undefined;
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}
