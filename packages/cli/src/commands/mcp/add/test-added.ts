/** Connects to the servers that `mcp add` wrote and prints the result; the entries stay even if connecting fails. */

import type { ServerState } from "@fairlead/core/events";
import { notConnectedError } from "@fairlead/core/mcp/server-state";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import type { Output } from "../../../output/output.ts";
import { type ListedServer, stateWords } from "../../../output/servers/server-state.ts";
import type { Context } from "../../../shell/verb.ts";
import { connectServers } from "../../../targets/connect-servers.ts";
import { useHost } from "../../../targets/with-host.ts";

/** Returns the state after connecting of each server that may start. */
export async function testAdded(
  servers: readonly AdmittedServer[],
  configuration: Configuration,
  context: Context,
): Promise<readonly ListedServer[]> {
  const admitted = servers.filter(({ admission }) => admission.status === "admitted").map(({ server }) => server);
  if (admitted.length === 0) return [];
  const names = admitted.map(({ name }) => name);
  return useHost(configuration, context, async (host) => {
    await connectServers(host, names, context);
    const states = new Map(host.states().map((state) => [state.name, state]));
    return admitted.flatMap((server) => {
      const state = states.get(server.name);
      return state === undefined ? [] : [{ server, state }];
    });
  });
}

export function printTested(tested: readonly ListedServer[], out: Output): void {
  for (const { state } of tested) printOne(state, out);
}

function printOne(state: ServerState, out: Output): void {
  const name = toSafeLine(state.name);
  if (state.status === "connected") {
    out.print(safe`"${name}" is ${stateWords(state)}`);
    out.say(safe`next: fairlead tools ${toSafeLine(toShellWord(state.name))}`);
    return;
  }
  const { message, next } = notConnectedError(state);
  const hint = next === undefined ? safe`` : safe`\n  next: ${toSafeLine(next)}`;
  out.warn(safe`warning: "${name}" was added, but cannot connect: ${toSafeLine(message)}${hint}`);
  out.say(safe`to test again: fairlead mcp test ${toSafeLine(toShellWord(state.name))}`);
}
