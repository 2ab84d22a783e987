/** Opens the gateway for `fairlead serve` and the background host. Each workspace has its own settings and hosts. */

import { resolve } from "node:path";
import { inheritedVariables } from "@fairlead/core/connect";
import { type OpenedHost, openHost } from "@fairlead/core/host";
import type { OwnTelemetry } from "@fairlead/core/telemetry";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import {
  type Configuration,
  type ConfigurationOptions,
  createIdeTrust,
  type IdeTrust,
  loadConfiguration,
} from "@fairlead/core/trust";
import { Consent } from "@fairlead/gateway/consent/consent";
import type { QuestionPages } from "@fairlead/gateway/consent/question-pages";
import type { OpenConsole } from "@fairlead/gateway/console-port";
import { type CreateGatewayHost, createGateway, type Gateway, type Workspace } from "@fairlead/gateway/gateway";
import type { CommandCaller, RelayClient } from "@fairlead/gateway/relay/speech";
import { LargeMessages } from "@fairlead/wire";
import type { AddingHost } from "../commands/mcp/add/console-adding.ts";
import { configurationOf } from "../shell/configuration.ts";
import type { Context, Io } from "../shell/verb.ts";
import { version } from "../shell/version.ts";
import { mentionedVariables, withoutIde } from "./workspace-variables.ts";

/** Options of the gateway. `debug`: log the protocol messages of all servers, or of the named one. */
export interface OpenGatewayOptions {
  readonly io: Pick<Io, "env" | "home" | "platform" | "clock">;
  /** The state folder, `~/.fairlead`. */
  readonly state: string;
  readonly debug?: string | boolean;
  /** Where spans go. Absent if the environment of this process asks for none. */
  readonly telemetry?: OwnTelemetry | undefined;
  /** Reports a problem that does not stop the gateway, on stderr or in the background host's log. */
  readonly note: (message: string) => void;
}

/** Creates the gateway. It loads a workspace's settings when the first client of this workspace connects. */
export function openGateway({ io, state, debug = false, telemetry, note }: OpenGatewayOptions): Gateway {
  // One limit for the process: its hosts hold the results of all servers in the same memory.
  const largeMessages = new LargeMessages();
  const origins = new WeakMap<OpenedHost, ConfigurationOptions>();
  const createHost: CreateGatewayHost = async (workspace, hooks) => {
    const from = configurationOptions(workspace, io);
    const ide = ideOf(from, io);
    const first = await loadConfiguration({ ...from, ide }).catch(async (error: unknown) => {
      await ide.close();
      throw error;
    });
    const lasting = { recover: true, watch: true, lazy: true };
    const host = openHost(first, { from, ide, ...lasting, debug, telemetry, largeMessages, ...hooks });
    origins.set(host, from);
    host.on("history_failed", ({ message }) => note(`not recorded in the history: ${message}`));
    await Promise.all([host.recall(), host.policy()]);
    return host;
  };
  const consent = new Consent({ stateFolder: state, pages: questionPages() });
  const openConsole = consolesOf((host) => {
    const from = origins.get(host);
    return from && { from, openIde: () => ideOf(from, io) };
  });
  return createGateway({ createHost, consent, openConsole, stateFolder: state, version: version() });
}

/** Opens a gateway in the process of a command, for the workspace that its options choose. */
export async function openOwnGateway(
  context: Context,
): Promise<{ readonly gateway: Gateway; readonly workspace: Workspace; readonly state: string }> {
  const { io, out, globals, telemetry } = context;
  const { locations } = await configurationOf(context);
  const { root, settings, workspace, trustWorkspace } = globals;
  const note = (message: string): void => out.warnOnce(safe`note: ${toSafeLine(message)}`);
  return {
    gateway: openGateway({ io, state: locations.state, debug: globals.debug, telemetry, note }),
    workspace: {
      cwd: io.cwd,
      env: io.env,
      options: {
        workspace,
        trustWorkspace,
        root: root === undefined ? undefined : resolve(io.cwd, root),
        settingsFile: settings === undefined ? undefined : resolve(io.cwd, settings),
      },
    },
    state: locations.state,
  };
}

/** Shows clients' questions on pages. Their code is loaded with the first one. */
function questionPages(): QuestionPages {
  const load = async () => {
    const { QuestionPageServer } = await import("@fairlead/console/server/door/question-pages");
    const { bundledPage } = await import("./page-files.ts");
    return new QuestionPageServer({ readFiles: bundledPage, version: version() });
  };
  let loading: ReturnType<typeof load> | undefined;
  return {
    async open(shown) {
      loading ??= load();
      return (await loading).open(shown);
    },
    async [Symbol.asyncDispose]() {
      await (await loading)?.[Symbol.asyncDispose]();
    },
  };
}

/**
 * Opens consoles. Their code is loaded with the first one.
 *
 * @param originOf How the settings of a host were found, for consoles that write settings.
 */
function consolesOf(originOf: (host: OpenedHost) => Omit<AddingHost, "host"> | undefined): OpenConsole {
  const load = async () => {
    const { Consoles } = await import("@fairlead/console/server/door/consoles");
    const { ConsoleState } = await import("@fairlead/console/server/state/console-state");
    const { bundledPage } = await import("./page-files.ts");
    const { consoleAdding } = await import("../commands/mcp/add/console-adding.ts");
    return new Consoles({
      readFiles: bundledPage,
      createSource: (host) => {
        const origin = originOf(host);
        return new ConsoleState({
          host,
          version: version(),
          ...(origin && { adding: consoleAdding({ host, ...origin }) }),
          findModel: async (wanted, signal) => {
            const { modelFor } = await import("../targets/choose-model.ts");
            return modelFor(host.configuration, wanted, signal);
          },
        });
      },
    });
  };
  let loading: ReturnType<typeof load> | undefined;
  return async (host, options) => {
    loading ??= load();
    return (await loading).open(host, options);
  };
}

function configurationOptions(
  { cwd, env, options }: Workspace,
  { env: own, home, platform }: OpenGatewayOptions["io"],
): ConfigurationOptions {
  return { ...options, environment: { env: { ...own, ...env }, home, cwd, platform } };
}

/** The IDE of a client. The gateway's own process belongs to no IDE, so only the client's environment counts. */
function ideOf({ environment }: ConfigurationOptions, { clock }: OpenGatewayOptions["io"]): IdeTrust {
  return createIdeTrust({ environment, isInTerminal: false, clock });
}

async function loadOnce(from: ConfigurationOptions, io: OpenGatewayOptions["io"]): Promise<Configuration> {
  const ide = ideOf(from, io);
  try {
    return await loadConfiguration({ ...from, ide });
  } finally {
    await ide.close();
  }
}

/**
 * Returns the workspace of a relay's client. Keeps only the environment variables that the settings mention, so that
 * clients in different terminals can share servers.
 */
export async function workspaceOf(client: RelayClient, io: OpenGatewayOptions["io"]): Promise<Workspace> {
  const options = {
    workspace: client.workspace,
    trustWorkspace: client.trustWorkspace,
    root: client.root,
    settingsFile: client.settings,
  };
  // The host may have been started in the terminal of another IDE, whose variables do not concern this client.
  const from = configurationOptions({ cwd: client.cwd, env: { ...withoutIde, ...client.env }, options }, io);
  const configuration = await loadOnce(from, io);
  return { cwd: configuration.locations.root, env: mentionedVariables(configuration, client.env), options };
}

/** What differs between terminals, although servers behave the same. */
const unimportant: ReadonlySet<string> = new Set(["TERM"]);

/**
 * Returns the workspace of a command. It shares servers with other clients unless its servers would get other variables.
 * Undefined if the command has another home folder, and so other settings.
 */
export function commandWorkspace(command: CommandCaller, io: OpenGatewayOptions["io"]): Workspace | undefined {
  if (command.home !== io.home) return undefined;
  const { cwd, options, inherited } = command;
  const names = new Set([...inheritedVariables(io), ...Object.keys(inherited)]);
  const differing = [...names].filter((name) => !unimportant.has(name) && inherited[name] !== io.env[name]).sort();
  return {
    cwd,
    env: {
      ...Object.fromEntries(Object.entries(command.env).map(([name, value]) => [name, value ?? undefined])),
      ...Object.fromEntries(differing.map((name) => [name, inherited[name]])),
    },
    options,
  };
}
