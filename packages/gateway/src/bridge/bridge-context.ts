/** The state that the gateway shares between all requests of one client. */

import type { Clock } from "@fairlead/core/clock";
import type { SharedCapabilities } from "@fairlead/core/host";
import {
  ClientPins,
  isOfServer,
  LoadedSkills,
  ownAddress,
  type Pin,
  readOwnAddress,
  type SeenList,
  type Server,
  type ServerAddress,
  uiExtension,
} from "@fairlead/core/server";
import type { Era, JsonObject } from "@fairlead/wire";
import type { AsksPerson } from "../consent/consent.ts";
import type { GatewayClient } from "../gateway-client.ts";
import type { GatewayLoops } from "../gateway-loops.ts";
import { reachOf } from "../lists/client-reach.ts";
import { type ClientView, catalogsFor, serverOfNewUri, viewFor } from "../lists/client-view.ts";
import { discoverUnknown } from "../lists/first-discovery.ts";
import type { RequestStates } from "../questions/approval-store.ts";
import type { ParkedCalls } from "../questions/parked-calls.ts";
import type { SignInPort } from "../questions/sign-in-request.ts";
import type { ClientWorkspace } from "../workspaces.ts";
import { type ConnectionTurns, createConnectionTurns } from "./connection-turns.ts";
import type { HeapGrowth } from "./heap-growth.ts";
import type { TaskIds } from "./tasks.ts";
import type { UpstreamLevels } from "./upstream-levels.ts";

/** The parts of a gateway that all its clients share. */
export interface GatewayParts {
  readonly consent: AsksPerson;
  readonly states: RequestStates;
  readonly parked: ParkedCalls;
  /** Absent on one machine, where servers are signed in to with a command. */
  readonly signIns: SignInPort | undefined;
  readonly levels: UpstreamLevels;
  readonly tasks: TaskIds;
  readonly loops: GatewayLoops;
  readonly heap: HeapGrowth;
  /** Aborted when the gateway takes no further requests: requests that only wait for news end. */
  readonly draining: AbortSignal;
  /** The gateway's name and version. A client of `/mcp/<server>` gets the server's own name and version instead. */
  readonly serverInfo: JsonObject;
  readonly clock: Clock;
  /** Returns the current time, in milliseconds since 1970. */
  readonly now: () => number;
}

/** One client of the gateway: its workspace, and the lists that it sees. */
export interface BridgeContext extends GatewayParts {
  readonly client: GatewayClient;
  readonly workspace: ClientWorkspace;
  /** The open requests of this connection. Another connection with the same client name has its own turns. */
  readonly turns: ConnectionTurns;
  /**
   * Digests of allowed sampling requests. A task may repeat such a request, and then the rules are not checked again.
   */
  readonly sampled: Set<string>;
  /** Returns the tools, prompts and resources that the client sees now. */
  readonly view: () => ClientView;
  /** The names and addresses that the client has seen. They keep their servers. */
  readonly names: ClientPins;
  /** The skills that the client's model has loaded with `load_skill`. */
  readonly loadedSkills: LoadedSkills;
  /** Fixes names that the client is about to see or has used. Returns those that it may see. */
  readonly see: <T extends Pin>(list: SeenList, names: readonly T[]) => readonly T[];
  /** Fixes all addresses that the view has now: which server a URI belongs to depends on all of them. */
  readonly seeAddresses: () => void;
  /**
   * Fixes the addresses in a server's result. An address that no server has shown before belongs to this server. Returns
   * the function that gives the client's address for each of them.
   */
  readonly seeLinks: (server: string, uris: readonly string[]) => (uri: string) => string;
  /**
   * Returns the server of a URI that the client uses, with the server's own URI, and keeps it. Undefined if no server can
   * have it.
   */
  readonly targetOf: (uri: string) => ServerAddress | undefined;
  /**
   * Connects to servers without a cached catalog, but not to those in `except`, and waits for them. Rejects if the
   * signal aborts first.
   */
  readonly discovered: (era: Era, signal: AbortSignal, except?: ReadonlySet<string>) => Promise<void>;
}

/** Creates the state of one client. Connects to no server. */
export function createBridgeContext(
  parts: GatewayParts,
  client: GatewayClient,
  workspace: ClientWorkspace,
): BridgeContext {
  const { host, news } = workspace;
  let tried = new WeakSet<Server>();
  let triedWith: SharedCapabilities | undefined;
  let view: ClientView | undefined;
  let version: number | undefined;
  let viewWith: SharedCapabilities | undefined;
  let discovery: Promise<void> | undefined;
  const names = new ClientPins(client.names);
  const loadedSkills = new LoadedSkills(
    names.skills.all.map(({ server, name: uri }) => ({ server, uri })),
    ({ server, uri }) => names.see("skills", [{ server, name: uri, as: JSON.stringify([server, uri]) }]),
  );
  /** The view whose addresses the client has seen. */
  let addressed: ClientView | undefined;

  function currentView(): ClientView {
    if (view === undefined || version !== news.version() || viewWith !== workspace.passedOn) {
      version = news.version();
      viewWith = workspace.passedOn;
      const reach = reachOf(client, host);
      const { toolBudget, loadsSkills = false } = host.gateway.clientProfile(client.name) ?? {};
      view = viewFor(
        reach,
        catalogsFor(reach, host, {
          catalogOf: (server) => workspace.catalogOf(server),
          hasViews: workspace.passedOn?.extensions?.[uiExtension] !== undefined,
        }),
        {
          names,
          hasBudget: toolBudget !== undefined,
          loadsSkills,
          signsIn: parts.signIns !== undefined && workspace.principal !== undefined,
        },
      );
    }
    return view;
  }

  /** A client of one server cannot confuse servers, so its names need not be kept. */
  function see<T extends Pin>(list: SeenList, given: readonly T[]): readonly T[] {
    return client.only === undefined ? names.see(list, given) : given;
  }

  function seeAddresses(): void {
    const now = currentView();
    if (now === addressed) return;
    addressed = now;
    for (const list of ["resources", "templates"] as const)
      see(
        list,
        [...now[list]].map(([as, { server, name }]) => ({ server, name, as })),
      );
    see(
      "resources",
      [...now.views].map(([as, { server, uri }]) => ({ server, name: uri, as })),
    );
  }

  return {
    ...parts,
    client,
    workspace,
    turns: createConnectionTurns(),
    sampled: new Set(),
    view: currentView,
    names,
    loadedSkills,
    see,
    seeAddresses,
    seeLinks(server, uris) {
      if (client.only !== undefined) return (uri) => uri;
      seeAddresses();
      const { addressOf } = currentView();
      const mayList = names.createListing();
      const isNew = (uri: string): boolean =>
        addressOf(server, uri) === uri && names.ownerOf(uri) === undefined && mayList(server, uri);
      see(
        "links",
        uris.filter(isNew).map((uri) => ({ server, name: uri, as: uri })),
      );
      return (uri) => {
        const as = addressOf(server, uri);
        // An address that could not be kept for its server must name the server.
        const isKept = as !== uri || !isOfServer(uri) || names.ownerOf(uri) === server;
        return isKept ? as : (ownAddress({ server, uri }) ?? uri);
      };
    },
    targetOf(uri) {
      seeAddresses();
      const now = currentView();
      const reached = (target: ServerAddress): ServerAddress | undefined =>
        now.servers.includes(target.server) ? target : undefined;
      const pin = names.pinOf(uri);
      const named = client.only === undefined ? readOwnAddress(uri) : undefined;
      const own = named && namedTarget(named, now.servers);
      // An address that names a server leads to no other one. Skills of servers may have any scheme.
      if (own !== undefined && pin?.server !== own.server) return own;
      if (pin !== undefined) return reached({ server: pin.server, uri: pin.name });
      if (named !== undefined && isOfServer(uri)) return undefined;
      const seen = names.serverOf(uri);
      if (seen !== undefined) return reached({ server: seen, uri });
      const server = serverOfNewUri(uri, now, names);
      if (server === undefined) return undefined;
      // No list has this address. It stays with its server, even if another server lists it later.
      const isKept = see("resources", [{ server, name: uri, as: uri }]).length > 0;
      return isKept || now.servers.length === 1 ? { server, uri } : undefined;
    },
    async discovered(era, signal, except) {
      // A server may list other items for other capabilities.
      if (triedWith !== workspace.passedOn) tried = new WeakSet();
      triedWith = workspace.passedOn;
      const how = { workspace, clock: parts.clock, era, tried, signIns: parts.signIns };
      const { servers } = reachOf(client, host);
      if (except !== undefined && except.size > 0) {
        const others = servers.filter((server) => !except.has(server));
        return unlessAborted(discoverUnknown(others, how), signal);
      }
      discovery ??= discoverUnknown(servers, how).finally(() => {
        // The next list request looks for unknown servers again, because servers may have been added.
        discovery = undefined;
      });
      await unlessAborted(discovery, signal);
    },
  };
}

/** What an address means that names a server. A program may have changed the case of the name, as in a host name. */
function namedTarget(named: ServerAddress, servers: readonly string[]): ServerAddress | undefined {
  if (servers.includes(named.server)) return named;
  const [server, ...others] = servers.filter((each) => each.toLowerCase() === named.server.toLowerCase());
  return server === undefined || others.length > 0 ? undefined : { ...named, server };
}

function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
