/** Checks the entries that `fairlead connect` wrote into the settings of other programs. */

import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { fromForeignEntry, ownEntryName } from "@fairlead/core/settings";
import { clients } from "../clients/client.ts";
import { openClientText } from "../clients/client-text.ts";
import { readClientFile } from "../clients/connect-client.ts";
import { type Receipt, ReceiptStore } from "../clients/receipts.ts";
import { type Observation, ok, problem, warning } from "./finding.ts";

/** One connected client. */
export interface ClientFacts {
  readonly receipt: Receipt;
  /** Why the client's settings file cannot be read. */
  readonly failure?: HostError;
  /** Whether the client's settings file still has Fairlead's entry. */
  readonly hasEntry: boolean;
  /** A program or file that the entry names but that does not exist. */
  readonly missing?: string;
}

/** Reads the settings file of each client that `fairlead connect` has changed. */
export async function readClientFacts(state: string): Promise<readonly ClientFacts[]> {
  return Promise.all((await new ReceiptStore(state).list()).map(factsOf));
}

async function factsOf(receipt: Receipt): Promise<ClientFacts> {
  const { client, file } = receipt;
  try {
    const { servers } = await openClientText(client, file, await readClientFile(file));
    const entry = fromForeignEntry(servers.get(ownEntryName)?.value);
    const paths = entry?.kind === "stdio" ? [entry.command, ...entry.args.slice(0, 1)].filter(isAbsolute) : [];
    const there = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
    const missing = paths.find((_path, at) => there[at] === undefined);
    return { receipt, hasEntry: entry !== undefined, missing };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { receipt, hasEntry: false, failure: error };
  }
}

/** Reports whether each connected client can still start Fairlead. */
export function checkClients(facts: readonly ClientFacts[]): readonly Observation[] {
  return facts.map(({ receipt: { client, file }, failure, hasEntry, missing }) => {
    const { title } = clients[client];
    const next = `fairlead connect ${client}`;
    if (failure !== undefined) return problem(failure);
    if (!hasEntry) return warning(`${title} is no longer connected: ${file} has no entry for Fairlead`, next);
    if (missing === undefined) return ok(`${title} uses Fairlead (${file})`);
    return problem({
      code: "command_not_found",
      message: `${title} cannot start Fairlead: ${missing} does not exist (${file})`,
      next,
    });
  });
}
