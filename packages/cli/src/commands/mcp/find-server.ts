/** Finds a configured server by its name. */

import { HostError } from "@fairlead/core/errors";
import { closest } from "@fairlead/core/text/closest";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";

/** @throws HostError `server_unknown` */
export function findServer({ servers }: Configuration, name: string): AdmittedServer {
  const found = servers.find(({ server }) => server.name === name);
  if (found) return found;
  const near = closest(
    name,
    servers.map(({ server }) => server.name),
  );
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  throw new HostError("server_unknown", `no server "${name}" is configured${hint}`, {
    serverName: name,
    next: "fairlead mcp list",
  });
}
