/** Turns the result of connecting to a server into findings, without its secrets. Pure. */

import type { Redact } from "@fairlead/core/connect/redact";
import type { ServerState } from "@fairlead/core/events";
import type { HostNote, HostTool } from "@fairlead/core/host";
import { notConnectedError } from "@fairlead/core/mcp/server-state";
import type { QuarantinedTool } from "@fairlead/core/registry/tool-registry";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { stateWords } from "../output/servers/server-state.ts";
import { repairSummary } from "../output/tools/tool-repairs.ts";
import { note, type Observation, ok, problem, warning } from "./finding.ts";

export interface ServerFacts {
  readonly state: ServerState;
  /** Duration of connecting, including reading the lists. */
  readonly milliseconds: number | undefined;
  readonly tools: readonly HostTool[];
  readonly quarantined: readonly QuarantinedTool[];
  readonly notes: readonly HostNote[];
  readonly hide: Redact;
}

const mostNames = 5;

export function checkServer({ state, milliseconds, hide, ...offered }: ServerFacts): readonly Observation[] {
  const { name: server } = state;
  const found = state.status === "connected" ? connected(state, milliseconds, offered) : [notConnected(state)];
  return found.map((observation) => ({ ...observation, server, message: hide(observation.message) }));
}

type Offered = Pick<ServerFacts, "tools" | "quarantined" | "notes">;

function connected(
  state: Extract<ServerState, { status: "connected" }>,
  milliseconds: number | undefined,
  { tools, quarantined, notes }: Offered,
): readonly Observation[] {
  const { name, peer, offer } = state;
  const time = milliseconds === undefined ? "" : `, ${Math.round(milliseconds)} ms`;
  const look = `fairlead tools ${toShellWord(name)}`;
  const adapted = repairSummary(tools);
  return [
    ok(`${name} is ${stateWords(state)} (protocol ${peer.protocolVersion}${time})`),
    ...(offer?.note === undefined ? [] : [note(`"${name}": ${offer.note}`, `fairlead mcp get ${toShellWord(name)}`)]),
    ...notes.map(({ message }) => warning(`"${name}": ${message}`, look)),
    ...(quarantined.length === 0 ? [] : [warning(kept(name, quarantined), `${look} --all`)]),
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
  // The user disabled or excluded the server: not a failure.
  if (code === "denied") return note(message, next);
  return problem({ code, message, next: next ?? `fairlead mcp test ${toShellWord(state.name)}` });
}
