/** Opens the gateway for `fairlead serve` and the background host. Each workspace has its own settings and hosts. */

import { openHost } from "@fairlead/core/host";
import {
  type Configuration,
  type ConfigurationOptions,
  createIdeTrust,
  type IdeTrust,
  ideVariables,
  loadConfiguration,
} from "@fairlead/core/trust";
import { Consent } from "@fairlead/gateway/consent/consent";
import { type CreateGatewayHost, createGateway, type Gateway, type Workspace } from "@fairlead/gateway/gateway";
import type { RelayClient } from "@fairlead/gateway/relay/speech";
import type { Io } from "../shell/verb.ts";
import { version } from "../shell/version.ts";

/** Options of the gateway. `debug`: log the protocol messages of all servers, or of the named one. */
export interface OpenGatewayOptions {
  readonly io: Pick<Io, "env" | "home" | "platform" | "clock">;
  /** The state folder, `~/.fairlead`. */
  readonly state: string;
  readonly debug?: string | boolean;
  /** Reports a problem that does not stop the gateway, on stderr or in the background host's log. */
  readonly note: (message: string) => void;
}

/** Creates the gateway. It loads a workspace's settings when the first client of this workspace connects. */
export function openGateway({ io, state, debug = false, note }: OpenGatewayOptions): Gateway {
  const createHost: CreateGatewayHost = async (workspace, hooks) => {
    const from = configurationOptions(workspace, io);
    const ide = ideOf(from, io);
    const load = () => loadConfiguration({ ...from, ide });
    const first = await load().catch(async (error: unknown) => {
      await ide.close();
      throw error;
    });
    const host = openHost(first, { load, ide, recover: true, watch: true, lazy: true, debug, ...hooks });
    host.on("history_failed", ({ message }) => note(`not recorded in the history: ${message}`));
    await Promise.all([host.recall(), host.policy()]);
    return host;
  };
  const consent = new Consent({ stateFolder: state });
  return createGateway({ createHost, consent, stateFolder: state, version: version() });
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

/** Environment variables that decide which settings files are read, or whether a workspace is trusted. */
const choosing = [
  "FAIRLEAD_SYSTEM_POLICIES_PATH",
  "FAIRLEAD_TRUST_WORKSPACE",
  "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
  "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
  "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
  "GEMINI_CLI_TRUST_WORKSPACE",
  ...Object.values(ideVariables),
];

const withoutIde = Object.fromEntries(Object.values(ideVariables).map((name) => [name, undefined]));

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
  const { locations, servers, trust } = await loadOnce(from, io);
  const mentioned = servers.flatMap(({ server }) => server.definition?.variables.map(({ name }) => name) ?? []);
  const names = [...new Set([...choosing, ...mentioned])].sort();
  // Clients inside and outside of an IDE share servers, unless the IDE decides about the folder.
  const own = trust.source === "ide" ? client.env : { ...client.env, ...withoutIde };
  return { cwd: locations.root, env: Object.fromEntries(names.map((name) => [name, own[name]])), options };
}
