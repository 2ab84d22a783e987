/** `connect --replace`: moves a client's own servers into Fairlead's user settings. */

import { HostError } from "@fairlead/core/errors";
import { ownEntryName } from "@fairlead/core/settings";
import type { Configuration } from "@fairlead/core/trust";
import { type Destination, destinationOf } from "../commands/mcp/add/destination.ts";
import {
  convertSources,
  entriesIn,
  type StoredSecret,
  storeImported,
  writeImported,
} from "../commands/mcp/import/import-steps.ts";
import { type PlannedServer, planImport } from "../import/plan.ts";
import { isProgram } from "../import/program.ts";
import type { Context } from "../shell/verb.ts";
import { type ClientName, clients } from "./client.ts";
import { openClientText } from "./client-text.ts";
import { readClientFile } from "./connect-client.ts";

/** The servers that `connect --replace` moves, and those that stay in the client's file. */
export interface MovePlan {
  readonly destination: Destination;
  /** Servers that are added to Fairlead's settings. */
  readonly added: readonly PlannedServer[];
  /** Servers to remove from the client's file: those in `added`, and those that Fairlead already has. */
  readonly names: readonly string[];
  readonly staying: readonly StayingServer[];
}

interface StayingServer {
  readonly name: string;
  /** The reason why the server stays, printed after "NAME stays: ". */
  readonly reason: string;
}

/**
 * Decides which servers move. Writes nothing.
 *
 * @throws HostError `usage` for Gemini CLI, which uses the same settings file as Fairlead
 */
export async function planMove(client: ClientName, file: string, configuration: Configuration): Promise<MovePlan> {
  const { title } = clients[client];
  if (!isProgram(client))
    throw new HostError("usage", `${title} and Fairlead read the same settings file, so no server can be moved`, {
      next: `fairlead connect ${client}`,
    });
  const destination = destinationOf("user", configuration.locations);
  const { servers } = await openClientText(client, file, await readClientFile(file));
  const { candidates } = await convertSources([{ program: client, file }], destination, configuration);
  const planned = planImport(
    /*
     * Claude Code's file also has servers of single projects, after the user's servers. So the first server with a name
     * is the user's; the others are left out.
     */
    candidates.filter(({ name }, at) => servers.has(name) && candidates.findIndex((one) => one.name === name) === at),
    { existing: await entriesIn(destination), replace: false, isTrusted: () => true },
  ).filter(({ name }) => name !== ownEntryName);
  const leaving = planned.filter(({ action }) => action.kind === "add" || action.kind === "same");
  return {
    destination,
    added: leaving.filter(({ action }) => action.kind === "add"),
    names: leaving.map(({ name }) => name),
    staying: planned.flatMap((server) =>
      leaving.includes(server) ? [] : { name: server.name, reason: whyStaying(server) },
    ),
  };
}

function whyStaying({ action, conversion }: PlannedServer): string {
  if (action.kind === "exists") return "Fairlead's settings already have a different server with this name";
  const obstacle = conversion.remarks.find(({ kind }) => kind === "obstacle");
  return `the server cannot be imported${obstacle === undefined ? "" : `: ${[obstacle.key, obstacle.message].join(" ").trim()}`}`;
}

/** Writes the servers into Fairlead's settings, and their secrets into the secret store. */
export async function moveServers(
  { added, destination }: MovePlan,
  configuration: Configuration,
  context: Context,
): Promise<readonly StoredSecret[]> {
  if (added.length === 0) return [];
  const { servers, stored } = await storeImported(added, configuration, context);
  for (const server of servers) await writeImported(server, destination, configuration, context);
  return stored;
}
