/** Connects to servers and reports the results as findings, with secrets hidden. */

import type { Redact } from "@fairlead/core/connect";
import type { ServerState } from "@fairlead/core/events";
import type { HostNote, HostTool } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/plain-text";
import { appOnlyReason, initialServerState, notConnectedError, type QuarantinedTool } from "@fairlead/core/server";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import type { OfferedTool } from "@fairlead/core/turn";
import { type ListedServer, stateWords } from "../output/servers/server-state.ts";
import { repairSummary } from "../output/tools/lists.ts";
import type { Context } from "../shell/verb.ts";
import { connectServers } from "../targets/connect-servers.ts";
import { useHost } from "../targets/with-host.ts";
import { type DoctorFinding, inGroup, note, type Observation, ok, problem, warning } from "./finding.ts";

/** The states of the servers after the connection attempts, and the findings about them. */
export interface ServerChecks {
  readonly listed: readonly ListedServer[];
  readonly findings: readonly DoctorFinding[];
}

/**
 * Connects to the servers that may start, and checks all servers. `earlierFindings`: the findings so far. If they
 * explain why a server is not connected, that server is not reported again.
 */
export function connectAndCheck(
  servers: readonly AdmittedServer[],
  configuration: Configuration,
  earlierFindings: readonly DoctorFinding[],
  context: Context,
): Promise<ServerChecks> {
  const redactions = new Map<string, Redact>();
  const isExplained = (name: string): boolean =>
    earlierFindings.some(({ server, severity }) => server === name && severity === "problem");

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
      const costs = checkTokens(await host.toolOffers());
      return { listed, findings: inGroup("servers", [...findings, ...costs]) };
    },
    { observe: (server, step) => step.step === "definition" && redactions.set(server, step.redact) },
  );
}

/** Whether the server waits for trust or an approval. The trust check has already reported this. */
function isWaiting(state: ListedServer["state"]): boolean {
  return state.status === "blocked" && (state.reason === "awaiting_approval" || state.reason === "untrusted_folder");
}

/** What is known about one server after the connection attempt. */
export interface ServerFacts {
  readonly state: ServerState;
  /** How long it took to connect to the server and to read its lists. */
  readonly milliseconds: number | undefined;
  readonly tools: readonly HostTool[];
  readonly quarantined: readonly QuarantinedTool[];
  readonly notes: readonly HostNote[];
  readonly hide: Redact;
}

const mostNames = 5;

/** Reports the connection or its error, with secrets hidden. */
export function checkServer({ state, milliseconds, hide, ...listed }: ServerFacts): readonly Observation[] {
  const { name: server } = state;
  const found = state.status === "connected" ? connected(state, milliseconds, listed) : [notConnected(state)];
  return found.map((observation) => ({ ...observation, server, message: hide(observation.message) }));
}

type ListedTools = Pick<ServerFacts, "tools" | "quarantined" | "notes">;

function connected(
  state: Extract<ServerState, { status: "connected" }>,
  milliseconds: number | undefined,
  { tools, quarantined, notes }: ListedTools,
): readonly Observation[] {
  const { name, peer } = state;
  const catalogNote = state.offer?.note;
  const time = milliseconds === undefined ? "" : `, ${Math.round(milliseconds)} ms`;
  const look = `fairlead tools ${toShellWord(name)}`;
  const adapted = repairSummary(tools);
  // A tool for views is meant to be like that.
  const broken = quarantined.filter(({ reason }) => reason !== appOnlyReason);
  return [
    ok(`${name} is ${stateWords(state)} (protocol ${peer.protocolVersion}${time})`),
    ...(catalogNote === undefined ? [] : [note(`"${name}": ${catalogNote}`, `fairlead mcp get ${toShellWord(name)}`)]),
    ...notes.map(({ message }) => warning(`"${name}": ${message}`, look)),
    ...(broken.length === 0 ? [] : [warning(kept(name, broken), `${look} --all`)]),
    ...(adapted === undefined ? [] : [note(`"${name}": ${adapted}`, `${look} --repairs`)]),
  ];
}

function kept(name: string, quarantined: readonly QuarantinedTool[]): string {
  const shown = quarantined.slice(0, mostNames).map(({ serverToolName, reason }) => `${serverToolName} (${reason})`);
  const left = quarantined.length - shown.length;
  return `"${name}" has quarantined tools, which models do not see: ${shown.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

function notConnected(state: ServerState): Observation {
  const { code, message, next } = notConnectedError(state);
  // `denied` means that a setting blocks the server. This is intended, so it is not a problem.
  if (code === "denied") return note(message, next);
  return problem({ code, message, next: next ?? `fairlead mcp test ${toShellWord(state.name)}` });
}

// Estimates how many tokens the tool definitions cost a model. Pure functions.

/** Doctor reports nothing if the estimated total is below this number of tokens. */
const small = 5_000;
const mostServers = 3;

/** Reports the total, and the servers with the most tokens. Reports nothing below 5000 tokens. */
export function checkTokens(tools: readonly OfferedTool[]): readonly Observation[] {
  const costs = new Map<string, number>();
  for (const { server, tokens } of tools) costs.set(server, (costs.get(server) ?? 0) + tokens);
  const total = [...costs.values()].reduce((sum, cost) => sum + cost, 0);
  if (total < small) return [];
  const dearest = [...costs].sort(([, one], [, other]) => other - one).slice(0, mostServers);
  const share = Math.round((dearest.reduce((sum, [, cost]) => sum + cost, 0) / total) * 100);
  const names = dearest.map(([server]) => `"${server}"`).join(", ");
  const offered = tools.filter((tool) => tool.offered).length;
  const found =
    offered === tools.length
      ? ""
      : `; a model is offered ${offered} of ${tools.length} tools and finds the others by search`;
  const message = `tool definitions cost a model about ${total} tokens, ${share} % of them for tools of ${names}${found}`;
  return [note(message, "fairlead tools --tokens")];
}
