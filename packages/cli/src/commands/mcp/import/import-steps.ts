/** The steps of an import, shared by `mcp import` and `connect --replace`: convert, store secrets, write. */

import { HostError } from "@fairlead/core/errors";
import { setServerEnabled, writeServer } from "@fairlead/core/settings/edit";
import { childNode, entriesOf, plainValueOf } from "@fairlead/core/settings/read/nodes";
import { readSource } from "@fairlead/core/settings/read/source";
import { lookupFor, readEnvFiles } from "@fairlead/core/settings/read/variables";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { type Collection, collect, type PlannedServer } from "../../../import/plan.ts";
import type { ImportSource } from "../../../import/program.ts";
import type { Context } from "../../../shell/verb.ts";
import { type Destination, isApproved, removeLine, restore, type Undo } from "../add/destination.ts";
import { storeSecrets } from "./store-secrets.ts";

/** Moves the literal secrets of the servers into the secret store. */
export async function storeImported(
  taken: readonly PlannedServer[],
  { locations }: Configuration,
  { io }: Context,
): ReturnType<typeof storeSecrets> {
  const { openSecretStore } = await import("@fairlead/core/files/secrets/secret-store");
  const { env, platform } = io;
  return storeSecrets(taken, await openSecretStore({ directory: locations.state, env, platform }));
}

/** Reads the settings files of other MCP clients, and converts their servers for one of Fairlead's settings files. */
export async function convertSources(
  sources: readonly ImportSource[],
  { scope: target }: Destination,
  { environment, locations, trust: { trusted } }: Configuration,
): Promise<Collection> {
  const { root } = locations;
  const lookup = lookupFor(target, { environment, root, envFiles: await readEnvFiles(locations, trusted) });
  return collect(sources, { environment, root, target, trusted, lookup });
}

/** Reads the entries of the target file. @throws HostError `settings_invalid` if the file is broken */
export async function entriesIn({ scope, file }: Destination): Promise<ReadonlyMap<string, unknown>> {
  const { root, state, problems } = await readSource(scope, file);
  const [problem] = problems;
  if (state === "broken")
    throw new HostError(
      "settings_invalid",
      problem?.message ?? `${file} cannot be read`,
      problem?.next === undefined ? {} : { next: problem.next },
    );
  return new Map([...entriesOf(childNode(root, "mcpServers"))].map(([name, { value }]) => [name, plainValueOf(value)]));
}

/**
 * Writes one server. For a disabled server, writes `enabled: false` first and then the entry, so that the server cannot
 * start before it is disabled.
 */
export async function writeImported(
  { target, conversion, action }: PlannedServer,
  destination: Destination,
  before: Configuration,
  context: Context,
): Promise<Undo> {
  const { file, word, edit } = destination;
  if (!conversion.enabled) await setServerEnabled(file, target, false, edit);
  const replace = action.kind === "replace";
  const { replaced } = await writeServer(file, target, conversion.entry, { ...edit, replace });
  if (replaced === undefined) return { undo: removeLine(target, word, context.globals) };
  return restore({ name: target, entry: replaced, approved: await isApproved(target, before) }, destination, context);
}
