/** Opens a relay to a server of the host. The trust and approval rules of a normal connection apply. */

import { type OpenedRelay, openRelay, type RelayOptions } from "../../connect/open-relay.ts";
import { HostError } from "../../errors.ts";
import type { ServerState } from "../../events.ts";
import { notConnectedError } from "../../server/server-state.ts";
import { checkApprovedPrograms } from "../../trust/admit.ts";
import type { HostConnectContext } from "./connect-context.ts";
import type { LiveConfiguration } from "./live-configuration.ts";

/** The parts of a host that a relay needs. */
export interface HostRelayContext {
  readonly configuration: LiveConfiguration;
  readonly states: () => readonly ServerState[];
  readonly context: HostConnectContext;
}

/**
 * Opens the relay.
 *
 * @throws HostError with the reason why the server is not allowed to start or could not be reached
 */
export async function openHostRelay(
  name: string,
  { configuration, states, context }: HostRelayContext,
  options: RelayOptions,
): Promise<OpenedRelay> {
  const { servers, trust } = configuration.current();
  const found = servers.find(({ server }) => server.name === name);
  const definition = found?.server.definition;
  if (found === undefined || definition === undefined || found.admission.status !== "admitted") {
    const state = states().find((each) => each.name === name);
    if (found !== undefined && state !== undefined) throw notConnectedError(state);
    throw new HostError("usage", `"${name}" cannot be recorded: it is built into Fairlead`, { serverName: name });
  }
  const connecting = await context.get();
  if (found.server.scope === "workspace" && !trust.approvesEntries) await checkApprovedPrograms(definition, connecting);
  return openRelay(definition, connecting, options);
}
