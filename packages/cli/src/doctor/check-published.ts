/** Checks whether servers that come from MCP registries are deprecated or deleted there. */

import { toShellWord } from "@fairlead/core/plain-text";
import type { Configuration } from "@fairlead/core/trust";
import type { PublishedState } from "../commands/mcp/registry/published-servers.ts";
import type { Io } from "../shell/verb.ts";
import { note, type Observation, warning } from "./finding.ts";

/** Reads what registries say. Loads the code that reads them only if a server comes from one. */
export async function readPublishedFacts(
  configuration: Configuration,
  io: Pick<Io, "signal">,
): Promise<readonly PublishedState[]> {
  const { servers } = configuration;
  if (servers.every(({ server }) => server.definition?.extras.origin === undefined)) return [];
  const { publishedServers, publishedStates } = await import("../commands/mcp/registry/published-servers.ts");
  return publishedStates(publishedServers(servers), configuration, io);
}

/** Reports servers that their registry warns of. A registry that cannot be read is a note: the servers work. */
export function checkPublished(states: readonly PublishedState[]): readonly Observation[] {
  return states.flatMap((state) => observe(state).map((one) => ({ ...one, server: state.server.name })));
}

function observe({
  server,
  origin,
  status,
  message = "the registry gives no reason",
}: PublishedState): readonly Observation[] {
  const name = `${origin.name} ${origin.version}`;
  switch (status) {
    case "deleted":
      return [
        warning(
          `${server.name}: ${name} is deleted from its registry, usually because it is malware or spam: ${message}`,
          `fairlead mcp remove ${toShellWord(server.name)}`,
        ),
      ];
    case "deprecated":
      return [
        warning(`${server.name}: ${name} is deprecated: ${message}`, `fairlead mcp update ${toShellWord(server.name)}`),
      ];
    case "unknown":
      return [note(`${server.name}: the state of ${name} is unknown: ${message}`)];
    case "current":
    case "outdated":
      return [];
  }
}
