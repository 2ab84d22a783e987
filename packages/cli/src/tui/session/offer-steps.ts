/** Offers the steps that servers added in the app still need: the sign-in, and an exact version. */

import type { ServerState } from "@fairlead/core/events";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import { downloadOf } from "../../pin/pin-server.ts";
import type { Services } from "../services.ts";

/** Connects the servers, and asks about each step that one of them needs. */
export async function offerSteps(names: readonly string[], services: Services): Promise<void> {
  const { host } = services.session;
  await host.start({ servers: names });
  for (const state of host.states()) if (names.includes(state.name)) await offerFor(state, services);
}

async function offerFor({ name, status }: ServerState, services: Services): Promise<void> {
  const { session, servers, runVerb } = services;
  const shown = toVisibleLine(name);
  const wants = async (message: string, yes: string): Promise<boolean> => {
    const options = [yes, "not now"];
    return (await session.ask("choice", { kind: "choice", serverName: name, message, options })) === 0;
  };
  if (status === "needs_auth" && (await wants(`"${shown}" needs a sign-in.`, "sign in now"))) return servers.auth(name);
  const { definition } = session.host.configuration.servers.find(({ server }) => server.name === name)?.server ?? {};
  const isUnpinned = definition !== undefined && downloadOf(definition)?.pinned === false;
  if (status !== "connected" || !isUnpinned) return;
  const why = `"${shown}" is downloaded when it starts, and a later start may run another version.`;
  if (!(await wants(why, "write its exact version into the settings"))) return;
  session.show("/mcp pin", await session.host.changeSettings(() => runVerb("mcp", "pin", name)));
  // The changed entry is another server, so it starts again.
  await session.host.start({ servers: [name] });
}
