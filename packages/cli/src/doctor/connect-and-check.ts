/** Connects to servers and turns the results into findings. */

import type { Redact } from "@fairlead/core/connect/redact";
import { initialServerState } from "@fairlead/core/mcp/server-state";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import type { ListedServer } from "../output/servers/server-state.ts";
import type { Context } from "../shell/verb.ts";
import { connectServers } from "../targets/connect-servers.ts";
import { useHost } from "../targets/with-host.ts";
import { checkServer } from "./check-servers.ts";
import { type DoctorFinding, inGroup } from "./finding.ts";

export interface ServerChecks {
  readonly listed: readonly ListedServer[];
  readonly findings: readonly DoctorFinding[];
}

/** `known`: earlier findings; a server whose problem is among them is not reported twice. */
export function connectAndCheck(
  servers: readonly AdmittedServer[],
  configuration: Configuration,
  known: readonly DoctorFinding[],
  context: Context,
): Promise<ServerChecks> {
  const redactions = new Map<string, Redact>();
  const isExplained = (name: string): boolean =>
    known.some(({ server, severity }) => server === name && severity === "problem");

  return useHost(
    configuration,
    context,
    async (host) => {
      const began = new Map<string, number>();
      const took = new Map<string, number>();
      host.on("state", ({ state: { name, status } }) => status === "connecting" && began.set(name, performance.now()));
      const names = servers.filter(({ admission }) => admission.status === "admitted").map(({ server }) => server.name);
      await connectServers(host, names, context, {
        onSettled({ name }) {
          const start = began.get(name);
          if (start !== undefined) took.set(name, performance.now() - start);
        },
      });
      const states = new Map(host.states().map((state) => [state.name, state]));
      const listed = servers.map(({ server, admission }) => ({
        server,
        state: states.get(server.name) ?? initialServerState(server.name, admission, 0),
      }));
      const findings = listed
        .filter(({ state }) => !isWaiting(state) && !(state.status !== "connected" && isExplained(state.name)))
        .flatMap(({ state }) =>
          checkServer({
            state,
            milliseconds: took.get(state.name),
            tools: host.tools(state.name),
            quarantined: host.quarantined(state.name),
            notes: host.notes(state.name),
            hide: redactions.get(state.name) ?? ((text) => text),
          }),
        );
      return { listed, findings: inGroup("servers", findings) };
    },
    { observe: (server, step) => step.step === "definition" && redactions.set(server, step.redact) },
  );
}

/** Whether the server waits for trust or approval; the trust check has already reported that. */
function isWaiting(state: ListedServer["state"]): boolean {
  return state.status === "blocked" && (state.reason === "awaiting_approval" || state.reason === "untrusted_folder");
}
