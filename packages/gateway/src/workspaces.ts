/**
 * One host for each workspace, which all its clients share, and the connections of each client: the shared one of a
 * server, or its own if the server must not be shared.
 */

import type { Clock } from "@fairlead/core/clock";
import type {
  DeclaredCapabilities,
  GreetingHooks,
  NamedServer,
  OpenedHost,
  QuestionHandler,
  SharedCapabilities,
} from "@fairlead/core/host";
import { canonicalJson } from "@fairlead/core/plain-text";
import type { ConfirmPort } from "@fairlead/core/policy";
import type { Catalog, Connection, Server } from "@fairlead/core/server";
import type { Configuration, ConfigurationOptions } from "@fairlead/core/trust";
import type { Era, JsonObject, ServerInfo } from "@fairlead/wire";
import type { AsksPerson } from "./consent/consent.ts";
import type { AskedClient } from "./gateway-client.ts";
import type { GatewayLoops } from "./gateway-loops.ts";
import { createListNews, type ListNews } from "./lists/list-news.ts";

/** A user or machine of a team. */
export interface Principal {
  /** The number of the tenant. Two tenants share nothing. */
  readonly tenant: number;
  /** `iss#sub` of the user's token, or the id of a machine. */
  readonly id: string;
  /** For rules. Sorted, because another order would be another host. */
  readonly groups: readonly string[];
}

/** The folder and environment of a client. Clients with the same workspace share a host. */
export interface Workspace {
  /** The user of a team, who has a host of their own. Absent on one machine. */
  readonly principal?: Principal;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The client's command-line options that choose the settings files. */
  readonly options?: Pick<ConfigurationOptions, "root" | "settingsFile" | "workspace" | "trustWorkspace"> | undefined;
}

/** What the gateway decides about a host. */
export interface HostHooks {
  /** The capabilities that shared connections declare to servers. */
  readonly declare: DeclaredCapabilities;
  /** Called for a server's question that belongs to no known request of a client. */
  readonly onQuestion: QuestionHandler;
  /** Asks about a host that a server wants while no request of a client runs. */
  readonly confirmHost: (serverName: string, until: AbortSignal) => ConfirmPort;
  /** Finds servers that lead back to this gateway. */
  readonly greeting: GreetingHooks;
}

/** Creates a host for a workspace. The program that contains the gateway provides it; the gateway disposes the host. */
export type CreateGatewayHost = (workspace: Workspace, hooks: HostHooks) => Promise<OpenedHost>;

export interface WorkspacesOptions {
  readonly createHost: CreateGatewayHost;
  readonly loops: GatewayLoops;
  readonly consent: AsksPerson;
  /** The name and version of this gateway. */
  readonly self: Pick<ServerInfo, "name" | "version">;
  readonly clock: Clock;
}

/** The host of a workspace ends this many milliseconds after its last client has left. */
const stays = 300_000;

/** Maximum number of different sets of further capabilities that the clients of a workspace declare to legacy servers. */
const mostSets = 8;

/** Gateways above a client, by their tokens, and which servers the client's requests reach. */
interface GatewaysAbove {
  readonly tokens: readonly string[];
  readonly reaches: (server: string) => boolean;
}

const withoutTokens =
  "is a Fairlead gateway behind a program that leaves out _meta, so Fairlead cannot tell whether it leads back to this gateway";

/** The workspaces of all clients. Dispose it to close their hosts. */
export class Workspaces implements AsyncDisposable {
  readonly #options: WorkspacesOptions;
  readonly #open = new Map<string, Promise<SharedWorkspace>>();
  readonly #opened = new Set<SharedWorkspace>();

  constructor(options: WorkspacesOptions) {
    this.#options = options;
  }

  /**
   * Finds or creates the host of a workspace for one client.
   *
   * @param conversation The id of the client's connection, `GatewayClient.conversation`.
   */
  async enter(workspace: Workspace, conversation: string): Promise<ClientWorkspace> {
    const key = canonicalJson([workspace.cwd, workspace.env, workspace.options ?? {}, workspace.principal ?? null]);
    const opening = this.#open.get(key) ?? SharedWorkspace.open(workspace, this.#options);
    this.#open.set(key, opening);
    try {
      const shared = await opening;
      this.#opened.add(shared);
      shared.enter();
      const leave = (): void =>
        shared.leave(() => {
          this.#open.delete(key);
          this.#opened.delete(shared);
        });
      return new ClientWorkspace(shared, workspace.principal, conversation, leave);
    } catch (error) {
      this.#open.delete(key);
      throw error;
    }
  }

  /** Applies new settings to the hosts of all workspaces, also of those that are being opened. */
  async reload(next: (workspace: Workspace) => Configuration): Promise<void> {
    const opened = await Promise.allSettled(this.#open.values());
    await Promise.all(
      opened.flatMap((each) => (each.status === "fulfilled" ? [each.value.reload(next(each.value.workspace))] : [])),
    );
  }

  /** The hosts of all workspaces that are open. */
  hosts(): readonly OpenedHost[] {
    return [...this.#opened].map(({ host }) => host);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.allSettled(this.#open.values());
    this.#open.clear();
    this.#opened.clear();
    await Promise.all(opened.flatMap((each) => (each.status === "fulfilled" ? [each.value.close()] : [])));
  }
}

/** Why no client is asked a server's question. Servers usually return this to the client whose call has failed. */
export function whyUnanswered(server: Server, why: "ambiguous" | "doubtful" | "unknown"): string {
  if (why === "unknown") return "no client has an open request that it could answer";
  const what = why === "ambiguous" ? "requests of several clients are open" : "another client has cancelled a request";
  const fact = `${what} on this connection, and Fairlead cannot tell which of its clients should answer`;
  const isApart = server.shareOf() === "client";
  const now = "each client has a connection of its own from now on, so the same request works if it is sent again";
  const setting = `fairlead.servers.${server.name}.share is "all"; "auto" gives each client a connection of its own`;
  return `${fact}; ${isApart ? now : setting}`;
}

/** Asks about a server's host through the inbox alone. */
export function askInInbox(consent: AsksPerson, host: OpenedHost): HostHooks["confirmHost"] {
  return (name, until) => consent.port(inInbox(name), until, host.gateway.identify(name));
}

/** Stands for the client where there is none: a person who sees the inbox answers for the server itself. */
function inInbox(serverName: string): AskedClient {
  return {
    name: serverName,
    conversation: `the server ${serverName}`,
    elicitation: { form: false, url: false },
    elicit: () => Promise.reject(new Error("there is no client")),
  };
}

/** The host that all clients of a workspace share. */
class SharedWorkspace {
  readonly host: OpenedHost;
  readonly workspace: Workspace;
  readonly news: ListNews;
  /** When a list request first started each server, in milliseconds of the clock. */
  readonly firstStarts: WeakMap<Server, number> = new WeakMap();
  readonly above: Set<GatewaysAbove>;
  readonly below: WeakMap<NamedServer, readonly string[]>;
  /** Applies new settings. If they cannot be read, the host keeps the old ones. Default: reads the settings files. */
  readonly reload: (next?: Configuration) => Promise<void>;
  /** The further capabilities that clients have declared, as JSON. Each set may need a process of each server. */
  readonly #sets = new Set<string>();
  readonly #clock: Clock;
  #clients = 0;
  #cancelEnd: (() => void) | undefined;

  static async open(workspace: Workspace, options: WorkspacesOptions): Promise<SharedWorkspace> {
    const above = new Set<GatewaysAbove>();
    const below = new WeakMap<NamedServer, readonly string[]>();
    const host: OpenedHost = await options.createHost(workspace, {
      // Not all clients support elicitation. A server's question to such a client fails. Clients that support sampling have
      // connections that declare it: the others, and commands, see what a server lists for programs without it.
      declare: { elicitation: true, sampling: false, roots: false },
      onQuestion: async (name, method, params, signal, origin) => {
        const server = host.gateway.servers.get(name);
        const asked = host.person.ask(name, method, params, signal);
        // Clients whose requests are open at the same time should have connections of their own from now on.
        if (asked === undefined || origin?.isAmbiguous === true) server.noteAsksBack();
        if (asked !== undefined) return asked;
        const why = origin?.isAmbiguous === true ? "ambiguous" : "unknown";
        throw new Error(`"${name}" sent ${method}, but ${whyUnanswered(server, why)}`);
      },
      confirmHost: (...asked) => askInInbox(options.consent, host)(...asked),
      greeting: greetingHooks(options, above, below),
    });
    return new SharedWorkspace(host, workspace, options.clock, above, below);
  }

  constructor(
    host: OpenedHost,
    workspace: Workspace,
    clock: Clock,
    above: Set<GatewaysAbove>,
    below: WeakMap<NamedServer, readonly string[]>,
  ) {
    this.host = host;
    this.workspace = workspace;
    this.#clock = clock;
    this.above = above;
    this.below = below;
    this.news = createListNews(host, clock);
    // The settings may have changed what a client may use, so all lists may have changed.
    const reloaded = (): void => this.news.changed(["tools", "prompts", "resources"]);
    this.reload = (next) => this.news.during(host.reload(next).then(reloaded, () => {}));
    host.on("settings_changed", () => void this.reload());
    // The host itself has applied what the IDE reports.
    host.on("ide_trust_changed", reloaded);
  }

  /** Whether clients may declare these to legacy servers. Too many different sets would start too much. */
  takeSet(declared: SharedCapabilities): boolean {
    const key = canonicalJson(declared);
    if (this.#sets.size < mostSets) this.#sets.add(key);
    return this.#sets.has(key);
  }

  enter(): void {
    this.#clients += 1;
    this.#cancelEnd?.();
    this.#cancelEnd = undefined;
  }

  /** @param onEnd Called when the workspace ends, because no client has come back. */
  leave(onEnd: () => void): void {
    this.#clients -= 1;
    if (this.#clients > 0) return;
    const end = (): void => {
      onEnd();
      void this.close();
    };
    this.#cancelEnd = this.#clock.after(stays, end, { background: true });
  }

  async close(): Promise<void> {
    this.#cancelEnd?.();
    this.news.close();
    await this.host[Symbol.asyncDispose]();
  }
}

/** One client in its workspace. */
export class ClientWorkspace {
  readonly host: OpenedHost;
  /** The notifications about changes of the lists that clients see. */
  readonly news: ListNews;
  /** The user of a team. */
  readonly principal: Principal | undefined;
  readonly #shared: SharedWorkspace;
  readonly #conversation: string;
  readonly #leave: () => void;
  #declared: JsonObject = { elicitation: {}, sampling: {}, roots: {} };
  #passedOn: SharedCapabilities | undefined;
  #above: GatewaysAbove | undefined;
  #isClosed = false;

  constructor(shared: SharedWorkspace, principal: Principal | undefined, conversation: string, leave: () => void) {
    this.host = shared.host;
    this.principal = principal;
    this.news = shared.news;
    this.#shared = shared;
    this.#conversation = conversation;
    this.#leave = leave;
  }

  /** When a list request first started each server, in milliseconds of the clock. */
  get firstStarts(): WeakMap<Server, number> {
    return this.#shared.firstStarts;
  }

  /** Sets what the client's own connections declare to servers. Without this call: elicitation, sampling and roots. */
  declare(capabilities: JsonObject): void {
    this.#declared = capabilities;
  }

  /**
   * What the client's legacy servers learn of besides what all clients' servers do; undefined if it is nothing. A modern
   * client may declare something else with each request, and then this is another object.
   */
  get passedOn(): SharedCapabilities | undefined {
    return this.#passedOn;
  }

  passOn(declared: SharedCapabilities): void {
    const isUsual = !declared.sampling && declared.extensions === undefined;
    if (isUsual && this.#passedOn === undefined) return;
    if (canonicalJson(declared) === canonicalJson(this.#passedOn ?? {})) return;
    this.#passedOn = !isUsual && this.#shared.takeSet(declared) ? declared : undefined;
  }

  /**
   * Returns the catalog that a server lists for what the client has declared. Undefined if that is what all clients
   * declare, or if the server has not listed it yet.
   */
  catalogOf(name: string): Catalog | undefined {
    const server = this.host.gateway.servers.find(name);
    if (server === undefined || this.#passedOn === undefined) return undefined;
    const connections = [...this.#ownOf(server), ...server.findSharedWith(this.#passedOn)];
    return connections.flatMap((connection) => server.catalogOf(connection)?.catalog ?? [])[0];
  }

  /** Whether the server may list other items for what the client has declared than it has listed for all clients. */
  lacksCatalogOf(server: Server): boolean {
    const { name } = server;
    return this.#passedOn !== undefined && server.facts()?.era !== "modern" && this.catalogOf(name) === undefined;
  }

  /** Whether a server has refused the client's connection because its user is not signed in. */
  needsSignIn(server: Server): boolean {
    return [server, ...this.#ownOf(server)].some(({ state }) => state.status === "needs_auth");
  }

  /** Sets the tokens of the gateways above the client, and which servers its requests reach. */
  setAbove(tokens: readonly string[], reaches: (server: string) => boolean): void {
    const { above } = this.#shared;
    if (this.#above !== undefined) above.delete(this.#above);
    this.#above = { tokens, reaches };
    if (tokens.length > 0 && !this.#isClosed) above.add(this.#above);
  }

  /** Returns the tokens of the gateways below these servers. */
  below(servers: readonly string[]): readonly string[] {
    return servers.flatMap((name) => {
      const server = this.host.gateway.servers.find(name);
      return (server && this.#shared.below.get(server)) ?? [];
    });
  }

  /**
   * Returns the connection for this client's requests to a server: the shared one in the client's era, or the client's
   * own. Starts the server only if its era must be found first.
   *
   * @throws HostError if the server is unknown or may not start
   */
  async connectionOf(name: string, era: Era): Promise<Connection> {
    const server = this.host.gateway.servers.get(name);
    const common = await server.sharedFor(era);
    // A reload may have replaced the server meanwhile. It must not start again.
    if (this.host.gateway.servers.find(name) !== server) return this.connectionOf(name, era);
    const isModern = (common.peer?.era ?? server.facts()?.era) === "modern";
    const passedOn = isModern || server.definition === undefined ? undefined : this.#passedOn;
    const shared = passedOn === undefined ? common : server.sharedWith(passedOn, common);
    // A client that cannot be asked anything can share a connection on which another client's question may come.
    const owner = this.#declares("elicitation") || this.#declares("sampling") ? this.#conversation : undefined;
    if (server.shareOf(shared, owner) === "all") return shared;
    // For all clients: the lists and updates that they see come from their own connections from now on.
    server.unshare(shared);
    if (this.#isClosed) throw new Error("the client has disconnected");
    return server.other(this.idIn(era), {
      declare: {
        elicitation: this.#declares("elicitation"),
        sampling: this.#declares("sampling"),
        roots: this.#declares("roots"),
        extensions: this.#passedOn?.extensions,
      },
      onQuestion: async (asker, method, params, signal) => {
        const asked = this.host.person.ask(asker, method, params, signal);
        if (asked !== undefined) return asked;
        throw new Error(`"${asker}" sent ${method}, but the client cannot answer: it has no open request`);
      },
      era: era === "legacy" ? era : undefined,
    });
  }

  /** Tells the servers on the client's own connections that its roots have changed. */
  async rootsChanged(): Promise<void> {
    for (const server of this.host.gateway.servers.all())
      for (const connection of this.#ownOf(server)) await server.rootsChanged(connection);
  }

  /** Closes the client's own connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#above !== undefined) this.#shared.above.delete(this.#above);
    const servers = this.host.gateway.servers.all();
    await Promise.all(servers.flatMap((server) => eras.map((era) => server.closeOther(this.idIn(era)))));
    this.#leave();
  }

  #declares(name: string): boolean {
    return this.#declared[name] !== undefined;
  }

  /** The id of the client's own connections in an era. They are closed with the client. */
  idIn(era: Era): string {
    return `${this.#conversation} ${era}`;
  }

  #ownOf(server: Server): readonly Connection[] {
    return eras.flatMap((era) => server.findOther(this.idIn(era)) ?? []);
  }
}

const eras: readonly Era[] = ["legacy", "modern"];

function greetingHooks(
  { loops, self }: Pick<WorkspacesOptions, "loops" | "self">,
  above: ReadonlySet<GatewaysAbove>,
  below: WeakMap<NamedServer, readonly string[]>,
): GreetingHooks {
  return {
    async meta({ name }) {
      const reaching = [...above].filter(({ reaches }) => reaches(name));
      return loops.metaOf(
        "above",
        reaching.flatMap(({ tokens }) => tokens),
      );
    },
    async accepts(server, meta, serverInfo) {
      const tokens = await loops.read("below", meta);
      if (tokens === "loop") return false;
      // Each gateway of this version sends tokens.
      const isGateway = serverInfo.name === self.name && serverInfo.version === self.version;
      if (isGateway && tokens.length === 0) return withoutTokens;
      below.set(server, tokens);
      return true;
    },
  };
}
