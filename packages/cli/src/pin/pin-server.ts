/** Finds the argument of an entry to replace by an exact version. Writes nothing. */

import { HostError } from "@fairlead/core/errors";
import { openSecretStore } from "@fairlead/core/files/secrets/secret-store";
import { initialServerState, notConnectedError } from "@fairlead/core/mcp/server-state";
import type { ServerDefinition } from "@fairlead/core/settings/define/definition";
import { expandTransport } from "@fairlead/core/settings/define/expand";
import type { ArgumentChange } from "@fairlead/core/settings/edit";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import { programPlace } from "@fairlead/core/trust/programs";
import { type Download, findDownload } from "../output/servers/server-notes.ts";
import { imageDigest } from "./image-digest.ts";
import { npmVersion } from "./npm-version.ts";
import type { ExactName, PinRequest } from "./pin-request.ts";
import { pythonVersion } from "./python-version.ts";
import { createRunner } from "./run-program.ts";

export interface VersionPin extends ArgumentChange {
  readonly note?: string;
}

/** Returns the package or image that the server downloads at start; undefined if none. */
export function downloadOf({ transport }: Pick<ServerDefinition, "transport">): Download | undefined {
  return transport.kind === "stdio" ? findDownload(transport.command, transport.args) : undefined;
}

/** Returns the change, or undefined if the version is already exact. @throws HostError */
export async function pinServer(
  found: AdmittedServer,
  configuration: Configuration,
  signal: AbortSignal,
): Promise<VersionPin | undefined> {
  const { environment, locations } = configuration;
  const { name } = found.server;
  const definition = usable(found);
  const download = downloadOf(definition);
  if (download === undefined || definition.transport.kind !== "stdio")
    throw unfit(name, "cannot be pinned: it is not downloaded at start");
  if (download.pinned) return undefined;
  if (download.name.includes("$"))
    throw unfit(name, `cannot be pinned: its package name has a variable: ${download.name}`);
  const { at } = download;
  const before = definition.transport.args[at] ?? "";
  const { env, platform } = environment;
  const transport = await expandTransport(definition, async (secret) =>
    (await openSecretStore({ directory: locations.state, env, platform })).get(secret),
  );
  const expanded = transport.kind === "stdio" ? findDownload(transport.command, transport.args) : undefined;
  if (transport.kind !== "stdio" || expanded?.at !== at)
    throw unfit(name, "cannot be pinned: its command line changes after expanding variables");
  const options = transport.args.slice(0, at);
  const { name: exact, note } = await resolveExactName({
    server: name,
    download: { ...expanded, name: download.name },
    options,
    isOption: before !== download.name || options.at(-1) === "--from",
    env: transport.env,
    home: environment.home,
    run: createRunner({
      serverName: name,
      transport,
      place: programPlace(configuration),
      signal,
    }),
  });
  const after = before.slice(0, before.length - download.name.length) + exact;
  return { at, before, after, ...(note !== undefined && { note }) };
}

/** Finding a version runs a program with the entry's variables, so a workspace's server must be allowed to start. */
function usable({ server, admission }: AdmittedServer): ServerDefinition {
  const { name, scope, definition, origin } = server;
  if (scope !== "user" && scope !== "workspace")
    throw new HostError("usage", `"${name}" is in ${origin.file}, a system file that Fairlead does not edit`);
  const mayRun = scope === "user" || admission.status === "admitted";
  if (!mayRun || definition === undefined) throw notConnectedError(initialServerState(name, admission, 0));
  return definition;
}

function unfit(serverName: string, why: string): HostError {
  return new HostError("usage", `"${serverName}" ${why}`, { serverName });
}

function resolveExactName(wanted: PinRequest): Promise<ExactName> {
  switch (wanted.download.from) {
    case "npm":
      return npmVersion(wanted);
    case "PyPI":
      return pythonVersion(wanted);
    case "an image registry":
      return imageDigest(wanted);
  }
}
