/** Opens the gateway for `fairlead serve` and the background host. Each workspace has its own settings and hosts. */

import { openHost } from "@fairlead/core/host";
import { type ConfigurationOptions, loadConfiguration } from "@fairlead/core/trust/configuration";
import { createConsent } from "@fairlead/gateway/consent/consent";
import { type CreateGatewayHost, createGateway, type Gateway, type Workspace } from "@fairlead/gateway/gateway";
import type { RelayClient } from "@fairlead/gateway/relay/speech";
import type { Io } from "../shell/io.ts";
import { version } from "../shell/version.ts";

/** Options of the gateway. `debug`: log the protocol messages of all servers, or of the named one. */
export interface OpenGatewayOptions {
  readonly io: Pick<Io, "env" | "home" | "platform">;
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
    const load = () => loadConfiguration(from);
    const host = openHost(await load(), { load, recover: true, watch: true, lazy: true, debug, ...hooks });
    host.on("history_failed", ({ message }) => note(`not recorded in the history: ${message}`));
    await Promise.all([host.recall(), host.policy()]);
    return host;
  };
  const consent = createConsent({ stateFolder: state });
  return createGateway({ createHost, consent, stateFolder: state, version: version() });
}

function configurationOptions(
  { cwd, env, options }: Workspace,
  { env: own, home, platform }: OpenGatewayOptions["io"],
): ConfigurationOptions {
  return { ...options, environment: { env: { ...own, ...env }, home, cwd, platform } };
}

/** Environment variables that decide which settings files are read, or whether a workspace is trusted. */
const choosing = [
  "FAIRLEAD_SYSTEM_POLICIES_PATH",
  "FAIRLEAD_TRUST_WORKSPACE",
  "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
  "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
  "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
  "GEMINI_CLI_TRUST_WORKSPACE",
];

/**
 * Returns the workspace of a relay's client. Keeps only the environment variables that the settings mention, so that
 * clients in different terminals can share servers.
 */
export async function workspaceOf(client: RelayClient, io: OpenGatewayOptions["io"]): Promise<Workspace> {
  const options = {
    workspace: client.workspace,
    trustWorkspace: client.trustWorkspace,
    ...(client.root !== undefined && { root: client.root }),
    ...(client.settings !== undefined && { settingsFile: client.settings }),
  };
  const { locations, servers } = await loadConfiguration(
    configurationOptions({ cwd: client.cwd, env: client.env, options }, io),
  );
  const mentioned = servers.flatMap(({ server }) => server.definition?.variables.map(({ name }) => name) ?? []);
  const names = [...new Set([...choosing, ...mentioned])].sort();
  return { cwd: locations.root, env: Object.fromEntries(names.map((name) => [name, client.env[name]])), options };
}
