/**
 * Adds a server from the command line to the configuration of one run. The server counts as an entry of the user's
 * settings.
 */

import { HostError } from "../errors.ts";
import { parseJsonc } from "../files/json/jsonc.ts";
import { isInside } from "../files/real-path.ts";
import { defineServer } from "../settings/define/define.ts";
import { type Origin, type ServerExtras, typedOrigin } from "../settings/define/definition.ts";
import type { SettingsSource } from "../settings/read/source.ts";
import { lookupFor, readEnvFiles } from "../settings/read/variables.ts";
import { checkSource } from "../settings/schema/checked.ts";
import { admit } from "./admit.ts";
import { withApprovalFolder } from "./approval-folder.ts";
import type { AdmittedServer, Configuration } from "./configuration.ts";
import { programPlace } from "./programs.ts";

/** A server that the user gives on the command line for one run. */
export interface AdHocServer {
  readonly name: string;
  /** The entry as a settings file would contain it. */
  readonly entry: Readonly<Record<string, unknown>>;
}

/**
 * The options of a server from the command line. Of the options in `fairlead.servers`, only `enabled` applies to it.
 */
const extras: ServerExtras = {
  start: "lazy",
  trustAnnotations: false,
  sampling: false,
  roots: false,
  alwaysLoad: false,
  share: "auto",
};

/**
 * Adds the server to the configuration. `added.admission` says whether it may start.
 *
 * @throws HostError `usage` if the name is taken, `settings_invalid` if the entry is nested too deeply
 */
export async function addAdHocServer(
  configuration: Configuration,
  { name, entry }: AdHocServer,
): Promise<{ readonly configuration: Configuration; readonly added: AdmittedServer }> {
  const { locations, environment, settings, trust } = configuration;
  if (isServerNameTaken(name, configuration))
    throw new HostError("usage", `the settings already have a server "${name}"`, { serverName: name });

  const source = sourceOf(name, { ...entry, ...folderFor(entry, configuration) });
  const { entries, entryProblems } = checkSource(source);
  const property = entries.get(name);
  if (property === undefined)
    throw new HostError("settings_invalid", `the entry of "${name}" is nested too deeply`, { serverName: name });
  const envFiles = await readEnvFiles(locations, trust.trusted);
  const { kind, definition, problems } = defineServer(name, property.value, {
    source,
    at: property.key,
    lookup: lookupFor("user", { environment, root: locations.root, envFiles }),
    base: { home: environment.home, folder: environment.home },
    extras,
    found: entryProblems.get(name) ?? [],
  });
  const disabledBy = settings.switchedOff.get(name);
  const described = {
    name,
    scope: source.scope,
    origin: source.originOf(property.key),
    kind,
    shadows: [],
    enabled: disabledBy === undefined,
    disabledBy,
    definition,
    problems,
  };
  const server = await withApprovalFolder(described, programPlace(configuration));
  const admission = admit(server, { trust, settings, approvals: new Map(), locations });
  const added = { server, admission };
  const others = configuration.servers.filter((other) => other.server.name !== name);
  return { configuration: { ...configuration, servers: [...others, added] }, added };
}

/**
 * Returns the configuration with another entry instead of the server's own, under the name `as`, so that nothing on disk is
 * mixed up with the server's. The server's options and its sandbox apply to it, and so does what its name may not do.
 *
 * @throws HostError `settings_invalid` if the entry is nested too deeply
 */
export async function withTriedEntry(
  configuration: Configuration,
  { name, definition: own }: AdmittedServer["server"],
  { as, entry }: { readonly as: string; readonly entry: AdHocServer["entry"] },
): Promise<{ readonly configuration: Configuration; readonly tried: AdmittedServer }> {
  const servers = configuration.servers.filter((other) => other.server.name !== name);
  const { added } = await addAdHocServer({ ...configuration, servers }, { name, entry });
  const { definition } = added.server;
  const options = own && { extras: own.extras, ...(own.sandbox && { sandbox: own.sandbox }) };
  const server = {
    ...added.server,
    name: as,
    ...(definition && { definition: { ...definition, ...options, name: as } }),
  };
  const tried = { ...added, server };
  return { configuration: { ...configuration, servers: [...servers, tried] }, tried };
}

/** Whether the name already belongs to a server. Servers of an untrusted workspace do not count. */
export function isServerNameTaken(name: string, { servers }: Pick<Configuration, "servers">): boolean {
  return servers.some(
    ({ server, admission }) =>
      server.name === name && !(admission.status === "blocked" && admission.reason === "untrusted_folder"),
  );
}

function sourceOf(name: string, entry: object): SettingsSource {
  const { root } = parseJsonc(JSON.stringify({ mcpServers: Object.fromEntries([[name, entry]]) }));
  const origin: Origin = { scope: "user", file: typedOrigin, line: 1, column: 1 };
  return { scope: "user", file: origin.file, state: "read", root, problems: [], originOf: () => origin };
}

/**
 * The working folder of the program. In an untrusted folder, the program could load the folder's `node_modules`,
 * `.npmrc` or Python modules. So it then runs in the same folder as the user's own servers.
 */
function folderFor(
  entry: AdHocServer["entry"],
  { trust, locations: { root }, environment: { cwd } }: Configuration,
): { readonly cwd?: string } {
  const isProgram = Object.hasOwn(entry, "command") && !Object.hasOwn(entry, "cwd");
  return isProgram && trust.trusted && isInside(cwd, root) ? { cwd: cwd.replaceAll("$", "$$$$") } : {};
}
