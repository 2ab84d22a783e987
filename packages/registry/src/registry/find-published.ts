/** Finds one version of a server in the registries, and says where an entry for it comes from. */

import { HostError } from "@fairlead/core/errors";
import type { PublishedOrigin } from "@fairlead/core/settings";
import type { PlannedEntry, ServerChoice } from "./launch.ts";
import type { CachedReply, McpRegistry } from "./mcp-registry.ts";
import type { PackageProof } from "./proof.ts";
import { isExactVersion, isRegistryName, type RegistryServer } from "./server-json.ts";
import { newestOf } from "./versions.ts";

/** A server of a registry, and the version that the user wants. Absent: the newest. */
export interface PublishedName {
  readonly name: string;
  readonly version: string | undefined;
}

/** One version of a server, as a registry publishes it. */
export interface PublishedVersion {
  readonly server: RegistryServer;
  /** The address or path of the registry. */
  readonly registry: string;
  /** All versions of the server. */
  readonly versions: readonly RegistryServer[];
  /** Set if the registry could not be reached and the answer comes from disk. */
  readonly kept: CachedReply | undefined;
}

/** Reads `NAME` or `NAME@VERSION`. Undefined if the word is not the name of a server in a registry. */
export function readPublishedName(word: string): PublishedName | undefined {
  const at = word.lastIndexOf("@");
  const [name, version] = at > 0 ? [word.slice(0, at), word.slice(at + 1)] : [word, undefined];
  // A namespace is a domain turned around. `./program` and `bin/program` are commands.
  return isRegistryName(name) && /^[a-z0-9-]+(?:\.[a-z0-9-]+)+\//i.test(name) ? { name, version } : undefined;
}

/**
 * Finds the version in the first registry that has the server. A registry that cannot be reached is not passed over: the
 * next one may have another server of this name.
 *
 * @throws HostError `not_found`, or `denied` if the version is deleted
 */
export async function findPublished(
  registries: readonly McpRegistry[],
  { name, version }: PublishedName,
): Promise<PublishedVersion> {
  if (version !== undefined && version !== "latest" && !isExactVersion(version))
    throw new HostError("usage", `"${version}" is not one exact version`, { next: `use ${name}@1.2.3, or ${name}` });
  let failure: unknown;
  for (const registry of registries) {
    const page = await registry.versions(name).catch((error: unknown) => {
      if (!(error instanceof HostError) || error.code !== "not_found") throw error;
      failure ??= error;
      return undefined;
    });
    if (page === undefined) continue;
    const server =
      version === undefined || version === "latest"
        ? newestOf(page.servers)
        : page.servers.find((one) => one.version === version);
    if (server === undefined)
      throw new HostError("not_found", `${name} has no version ${version} in the registry ${registry.address}`, {
        next: `newest version: ${newestOf(page.servers)?.version}`,
      });
    if (server.status === "deleted") throw deleted(server, registry.address);
    return { server, registry: registry.address, versions: page.servers, kept: page.kept };
  }
  throw failure;
}

function deleted({ name, version, statusMessage }: RegistryServer, registry: string): HostError {
  const why = statusMessage === undefined ? "" : `: ${statusMessage}`;
  return new HostError("denied", `${name} ${version} is deleted from the registry ${registry}${why}`, {
    next: "Fairlead adds no deleted server: most of them are malware or spam",
  });
}

/** What the settings keep about where an entry comes from. */
export function publishedOrigin(
  { server, registry }: Pick<PublishedVersion, "server" | "registry">,
  choice: ServerChoice,
  { inputs }: Pick<PlannedEntry, "inputs">,
  proof: PackageProof,
): PublishedOrigin {
  return {
    registry,
    name: server.name,
    version: server.version,
    kind: choice.kind,
    package: choice.package?.identifier ?? choice.label,
    ...(choice.package !== undefined && { proof: proof.kind === "proven" ? proof.by : "none" }),
    inputs,
  };
}
