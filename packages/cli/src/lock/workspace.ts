/** What there is to lock here: the entries of a trusted workspace, and the file that they are locked in. */

import { HostError } from "@fairlead/core/errors";
import { lockPath } from "@fairlead/core/policy/lock/lock-file";
import { childNode, entriesOf, plainValueOf } from "@fairlead/core/settings/read/nodes";
import { readSource } from "@fairlead/core/settings/read/source";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { configurationOf } from "../shell/configuration.ts";
import type { Context } from "../shell/verb.ts";
import { lockedEntry } from "./locked-entry.ts";

export interface LockWorkspace {
  readonly configuration: Configuration;
  /** The lock file, whether or not it is there. */
  readonly file: string;
  /** By name; as the lock file has them. */
  readonly entries: ReadonlyMap<string, JsonObject>;
}

/** Throws where nothing of the workspace counts. */
export async function openWorkspace(context: Context): Promise<LockWorkspace> {
  const configuration = await configurationOf(context);
  const { locations, servers } = configuration;
  const file = lockPath(locations);
  const settings = locations.files.workspace;
  if (file === undefined || settings === undefined) throw noWorkspace();
  throwIfUntrusted(configuration);
  const { root } = await readSource("workspace", settings);
  const written = entriesOf(childNode(root, "mcpServers"));
  const entries = servers.flatMap((one) => {
    if (one.server.scope !== "workspace") return [];
    const node = written.get(one.server.name)?.value;
    const entry = node === undefined ? entryOfLine(one) : plainValueOf(node);
    return isObject(entry) ? [[one.server.name, lockedEntry(entry)] as const] : [];
  });
  return { configuration, file, entries: new Map(entries) };
}

function noWorkspace(): HostError {
  const message = "there is no project here: the home folder's settings are the user's, or --no-workspace was given";
  return new HostError("usage", message, { next: "Use -C DIR for a project elsewhere." });
}

function throwIfUntrusted({ trust, locations, servers, settings }: Configuration): void {
  if (trust.trusted || settings.files.every(({ state }) => state !== "ignored")) return;
  const blocked = servers.find(
    ({ admission }) => admission.status === "blocked" && admission.reason === "untrusted_folder",
  );
  const { admission } = blocked ?? {};
  const next = admission && "next" in admission ? admission.next : undefined;
  throw new HostError(
    "untrusted_folder",
    `${locations.root} is not trusted (${trust.detail}): its servers are not started`,
    {
      next: next ?? "fairlead trust add",
    },
  );
}

/** `mcp.serverCommand` has no entry: it is the command line that counts. */
function entryOfLine({ server }: AdmittedServer): unknown {
  const transport = server.definition?.transport;
  return transport?.kind === "stdio" ? { command: transport.command, args: transport.args } : undefined;
}
