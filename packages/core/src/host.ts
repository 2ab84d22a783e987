/** One host: settings become definitions, definitions are admitted, admitted servers are connected, discovered and called. */

import { homedir } from "node:os";
import type { JsonObject, Progress, Session } from "@fairlead/wire";
import { type Clock, systemClock } from "./clock.ts";
import { createDemoSession } from "./demo/session.ts";
import {
  type Catalog,
  type CatalogPrompt,
  type CatalogResource,
  type CatalogTool,
  readCatalog,
} from "./discover/catalog.ts";
import { HostError } from "./errors.ts";
import { createEmitter, type Emitter, type ServerState } from "./events.ts";
import { type CallResult, callTool } from "./execute/call-tool.ts";
import { refusal, toState } from "./mcp/server-state.ts";
import type { Environment } from "./settings/paths.ts";
import { closest } from "./text/closest.ts";
import { toShellWord } from "./text/shell-word.ts";
import { type Configuration, type ConfigurationOptions, loadConfiguration } from "./trust/configuration.ts";

export type { Progress } from "@fairlead/wire";

export interface HostOptions {
  /** The user's settings file; by default the one that Gemini CLI reads. */
  readonly settings?: string;
  /** The workspace root; by default it is found from the current folder. `false` leaves the workspace out. */
  readonly workspace?: string | false;
  /** The embedding program's verdict on the workspace; without one, the trusted-folders file decides. */
  readonly trust?: boolean;
  /** By default that of the process. */
  readonly environment?: Environment;
  readonly clock?: Clock;
}

export interface HostTool {
  /** What a model is shown. Identity is the pair of `server` and `serverToolName`. */
  readonly name: string;
  readonly server: string;
  readonly serverToolName: string;
  readonly title?: string;
  readonly description: string;
  readonly parametersJsonSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  /** What a call of a model would meet. */
  readonly decision: "allow" | "ask_user" | "deny";
}

export type HostPrompt = CatalogPrompt & { readonly server: string };
export type HostResource = CatalogResource & { readonly server: string };

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The longest silence in milliseconds, instead of the server's own setting; progress restarts it. */
  readonly timeout?: number;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Host extends AsyncDisposable {
  /** Connects to the servers that may start, and reads what they offer. */
  start(): Promise<void>;
  /** What is known so far, of one server or of all; the demo server counts among all only while nothing else is configured. */
  tools(server?: string): readonly HostTool[];
  prompts(server?: string): readonly HostPrompt[];
  resources(server?: string): readonly HostResource[];
  /** Connects to that server first, if need be. */
  call(server: string, tool: string, args?: unknown, options?: CallOptions): Promise<CallResult>;
  /** In the order of the settings, the demo server last. */
  states(): readonly ServerState[];
  readonly on: Emitter["on"];
}

export const demoName = "demo";
const defaultTimeout = 600_000;

export async function createHost(options: HostOptions = {}): Promise<Host> {
  return openHost(await loadConfiguration(toConfigurationOptions(options)), options);
}

/** A host for a configuration that is loaded already. */
export function openHost(configuration: Configuration, { clock = systemClock }: { readonly clock?: Clock } = {}): Host {
  const { on, emit } = createEmitter();
  const states = new Map<string, ServerState>();
  for (const { server, admission } of configuration.servers) states.set(server.name, toState(server.name, admission));
  const hasDemo = !states.has(demoName);
  const onlyDemo = states.size === 0;
  if (hasDemo) states.set(demoName, { name: demoName, status: "disconnected", reason: "lazy" });

  let connecting: Promise<Connection> | undefined;
  let demo: Connection | undefined;
  let isOver = false;

  function move(state: ServerState): void {
    states.set(state.name, state);
    emit({ type: "state", state });
  }

  /** All callers share one attempt. */
  function connectDemo(): Promise<Connection> {
    connecting ??= (async () => {
      move({ name: demoName, status: "connecting" });
      const session = createDemoSession({ clock });
      demo = { session, catalog: await readCatalog(demoName, session) };
      move({ name: demoName, status: "connected" });
      return demo;
    })();
    return connecting;
  }

  function offered(server: string | undefined): Catalog | undefined {
    if (server !== undefined) find(states, server);
    const isWanted = server === undefined ? onlyDemo : server === demoName;
    return hasDemo && isWanted ? demo?.catalog : undefined;
  }

  function throwIfOver(): void {
    if (isOver) throw new HostError("usage", "this host has been closed");
  }

  return {
    on,
    states: () => [...states.values()],
    tools: (server) => (offered(server)?.tools ?? []).map((tool) => toHostTool(demoName, tool)),
    prompts: (server) => (offered(server)?.prompts ?? []).map((prompt) => ({ ...prompt, server: demoName })),
    resources: (server) => (offered(server)?.resources ?? []).map((resource) => ({ ...resource, server: demoName })),

    async start() {
      throwIfOver();
      emit({ type: "discovery", state: "in_progress" });
      if (hasDemo) await connectDemo();
      emit({ type: "discovery", state: "completed" });
    },

    async call(server, tool, args = {}, options = {}) {
      throwIfOver();
      const state = find(states, server);
      if (!hasDemo || server !== demoName) throw refusal(state);
      const { session, catalog } = await connectDemo();
      checkTool(server, tool, catalog);
      const total = configuration.settings.host.limits.callTotal;
      return callTool({ session, server, tool, args }, { timeout: defaultTimeout, ...options, total });
    },

    async [Symbol.asyncDispose]() {
      if (isOver) return;
      isOver = true;
      const connection = await connecting;
      if (connection === undefined) return;
      move({ name: demoName, status: "disconnecting" });
      await connection.session.close();
      move({ name: demoName, status: "disconnected", reason: "lazy" });
    },
  };
}

interface Connection {
  readonly session: Session;
  readonly catalog: Catalog;
}

function find(states: ReadonlyMap<string, ServerState>, name: string): ServerState {
  const state = states.get(name);
  if (state) return state;
  const message = `there is no server "${name}"${suggestion(name, states.keys())}`;
  throw new HostError("server_unknown", message, { next: "fairlead mcp list" });
}

function checkTool(serverName: string, name: string, { tools }: Catalog): void {
  const names = tools.map((tool) => tool.name);
  if (names.includes(name)) return;
  const message = `"${serverName}" has no tool "${name}"${suggestion(name, names)}`;
  throw new HostError("tool_unknown", message, { serverName, next: `fairlead tools ${toShellWord(serverName)}` });
}

function suggestion(name: string, known: Iterable<string>): string {
  const near = closest(name, known);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}

function toHostTool(server: string, { name, description = "", inputSchema, ...rest }: CatalogTool): HostTool {
  return {
    // The demo server never takes a bare name.
    name: `${server}__${name}`,
    server,
    serverToolName: name,
    description,
    parametersJsonSchema: inputSchema,
    ...rest,
    decision: "ask_user",
  };
}

function toConfigurationOptions({ settings, workspace, trust, environment }: HostOptions): ConfigurationOptions {
  return {
    environment: environment ?? { env: process.env, home: homedir(), cwd: process.cwd(), platform: process.platform },
    workspace: workspace !== false,
    ...(typeof workspace === "string" ? { root: workspace } : {}),
    ...(settings === undefined ? {} : { settingsFile: settings }),
    ...(trust === undefined ? {} : { embedderTrust: trust }),
  };
}
