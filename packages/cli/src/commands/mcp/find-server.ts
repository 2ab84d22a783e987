/** Finds a configured server by its name. */

import { HostError } from "@fairlead/core/errors";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import { nameHint } from "../../shell/verb.ts";

/** Returns the configured server with this name. @throws HostError `server_unknown` */
export function findServer({ servers }: Configuration, name: string): AdmittedServer {
  const found = servers.find(({ server }) => server.name === name);
  if (found) return found;
  const hint = nameHint(
    name,
    servers.map(({ server }) => server.name),
  );
  throw new HostError("server_unknown", `no server "${name}" is configured${hint}`, {
    serverName: name,
    next: "fairlead mcp list",
  });
}
