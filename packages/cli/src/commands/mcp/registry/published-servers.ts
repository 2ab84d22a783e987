/** The configured servers that come from MCP registries, and what their registries say about them now. */

import { HostError } from "@fairlead/core/errors";
import type { ConfiguredServer, PublishedOrigin } from "@fairlead/core/settings";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import { findPublished, type PublishedVersion } from "@fairlead/registry/registry/find-published";
import { type CachedReply, isOutage, type McpRegistry } from "@fairlead/registry/registry/mcp-registry";
import type { RegistryServer } from "@fairlead/registry/registry/server-json";
import { compareVersions, newestOf } from "@fairlead/registry/registry/versions";
import { objectOf } from "@fairlead/wire/json";
import type { Io } from "../../../shell/verb.ts";
import { registriesFor } from "./open-registries.ts";

/** A server that `mcp add` took from a registry. */
export interface PublishedServer {
  readonly server: ConfiguredServer;
  readonly origin: PublishedOrigin;
}

/** What the registry says about the installed version. */
export interface PublishedState extends PublishedServer {
  /** `unknown`: the registry cannot be read, or has forgotten the version. */
  readonly status: "current" | "outdated" | "deprecated" | "deleted" | "unknown";
  readonly newest: RegistryServer | undefined;
  /** The registry's words about a deprecated or deleted version, or why the state is unknown. */
  readonly message: string | undefined;
  readonly cached: CachedReply | undefined;
  readonly failure: HostError | undefined;
}

export function publishedServers(servers: readonly AdmittedServer[]): readonly PublishedServer[] {
  return servers.flatMap(({ server }) => {
    const origin = server.definition?.extras.origin;
    return origin?.registry === undefined ? [] : [{ server, origin }];
  });
}

/** Reads the registries of the servers, each server at the registry that it was added from. Never throws an outage. */
export async function publishedStates(
  servers: readonly PublishedServer[],
  configuration: Configuration,
  io: Pick<Io, "signal">,
): Promise<readonly PublishedState[]> {
  return Promise.all(servers.map((each) => publishedState(each, configuration, io)));
}

/**
 * The registry that a server was added from. A file of a workspace cannot lead to a registry that the user does not use.
 *
 * @throws HostError `usage`
 */
export function registryOf(
  { server, origin }: PublishedServer,
  configuration: Configuration,
  io: Pick<Io, "signal">,
): McpRegistry {
  const { registry: address = "" } = origin;
  const own = registriesFor(configuration, io).find((registry) => registry.address === address);
  if (own !== undefined) return own;
  const [typed] = server.scope === "workspace" ? [] : registriesFor(configuration, io, [address]);
  if (typed !== undefined) return typed;
  throw new HostError("usage", `the registry ${address} of "${server.name}" is not one of fairlead.registries`, {
    next: "add it to fairlead.registries in your settings, if you trust it",
  });
}

async function publishedState(
  one: PublishedServer,
  configuration: Configuration,
  io: Pick<Io, "signal">,
): Promise<PublishedState> {
  const { name, version } = one.origin;
  try {
    const { servers, kept: cached } = await registryOf(one, configuration, io).versions(name);
    const installed = servers.find((server) => server.version === version);
    const newest = newestOf(servers.filter(({ status }) => status !== "deleted"));
    const status = statusOf(installed, newest, version);
    const message = status === "unknown" ? `the registry has no version ${version} of it` : installed?.statusMessage;
    return { ...one, status, newest, message, cached, failure: undefined };
  } catch (error) {
    if (!(error instanceof HostError) || error.code === "cancelled") throw error;
    const failure = isOutage(error) ? error : undefined;
    return { ...one, status: "unknown", newest: undefined, message: error.message, cached: undefined, failure };
  }
}

function statusOf(
  installed: RegistryServer | undefined,
  newest: RegistryServer | undefined,
  version: string,
): PublishedState["status"] {
  if (installed === undefined) return "unknown";
  if (installed.status !== "active") return installed.status;
  if (newest === undefined || newest.version === version) return "current";
  // The registry may call an older version the latest, after it withdrew a newer one.
  return (compareVersions(newest.version, version) ?? 1) > 0 ? "outdated" : "current";
}

/** The version to update to: the one that the user names, or the newest. */
export function findUpdate(
  registry: McpRegistry,
  { name }: PublishedOrigin,
  version: string | undefined,
): Promise<PublishedVersion> {
  return findPublished([registry], { name, version });
}

/** The entry with further variables. Its own win. */
export function withVariables(
  entry: Readonly<Record<string, unknown>>,
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  if (Object.keys(variables).length === 0) return entry;
  return { ...entry, env: { ...variables, ...objectOf(entry["env"]) } };
}
