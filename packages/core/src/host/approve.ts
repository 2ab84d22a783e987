/** Approves workspace entries for the embedding program. */

import { HostError } from "../errors.ts";
import { closest } from "../text/closest.ts";
import { approve } from "../trust/approvals.ts";
import type { AdmittedServer, Configuration } from "../trust/configuration.ts";

/**
 * Stores an approval for each named entry exactly as the configuration holds it, and returns the names. Skips entries
 * that need no approval or have one.
 *
 * @throws HostError `server_unknown`; `untrusted_folder` for a named entry of a folder that is not trusted
 */
export async function approveWaiting(
  { servers, locations }: Pick<Configuration, "servers" | "locations">,
  names: readonly string[] | undefined,
  now: Date,
): Promise<readonly string[]> {
  const meant = names === undefined ? servers : names.map((name) => find(servers, name));
  for (const { server, admission } of names === undefined ? [] : meant)
    if (admission.status === "blocked" && admission.reason === "untrusted_folder")
      throw new HostError("untrusted_folder", admission.message, { serverName: server.name, next: admission.next });
  const waiting = meant.flatMap(({ server: { name, definition }, admission }) => {
    const isWaiting = admission.status === "blocked" && admission.reason === "awaiting_approval";
    return isWaiting && definition !== undefined ? [{ name, fingerprint: definition.fingerprint }] : [];
  });
  if (waiting.length > 0) await approve(locations.state, locations.root, waiting, now);
  return waiting.map(({ name }) => name);
}

function find(servers: readonly AdmittedServer[], name: string): AdmittedServer {
  const found = servers.find(({ server }) => server.name === name);
  if (found !== undefined) return found;
  const near = closest(
    name,
    servers.map(({ server }) => server.name),
  );
  throw new HostError(
    "server_unknown",
    `there is no server "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`,
  );
}
