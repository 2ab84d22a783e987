/** Shows one server in full, and tests it apart from the host's own connection. */

import { HostError } from "@fairlead/core/errors";
import { type OpenedHost, openHost } from "@fairlead/core/host";
import { readToolApprovals } from "@fairlead/core/policy";
import { definitionDigest, initialServerState } from "@fairlead/core/server";
import type { ServerDefinition } from "@fairlead/core/settings";
import { safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import type { ChangedDefinition, ServerCommands, ServerDetail, ServerField } from "../../protocol/servers.ts";
import { lastOutput, noteLines, notesOf, ObservedSteps, stepLines } from "../words/connect-steps.ts";
import {
  approvalFields,
  definitionFields,
  type Field,
  positionText,
  problemLines,
  rootsWords,
  trustValues,
} from "../words/server-details.ts";
import { changedItems } from "./server-rows.ts";

/** @throws HostError `server_unknown` */
export async function showServer(host: OpenedHost, name: string): Promise<ServerDetail> {
  const server = host.gateway.servers.get(name);
  server.showDemo();
  const { configuration } = host;
  const found = configuration.servers.find((each) => each.server.name === name);
  const { instructions, prompts = [] } = server.catalog?.catalog ?? {};
  return {
    name,
    definedAt: found === undefined ? "built in" : positionText(found.server.origin),
    fields: found === undefined ? [] : fieldsOf(found, configuration).map(toServerField).filter(isShown),
    instructions,
    notes: [
      ...(found?.server.problems ?? []).map(problemLines),
      ...host.notes(name).map(({ message }) => message),
      ...host.quarantined(name).map(({ serverToolName, reason }) => `${serverToolName} is not offered: ${reason}`),
    ],
    prompts: prompts.map(({ name: prompt, description }) => ({ name: prompt, description })),
    changes: await changesOf(host, name),
    fingerprint: found?.server.definition?.fingerprint,
    sandbox: await sandboxOf(host, found?.server.definition),
  };
}

/** What the program has in its sandbox, besides the system's and its own files. */
async function sandboxOf(host: OpenedHost, definition: ServerDefinition | undefined): Promise<ServerDetail["sandbox"]> {
  if (definition === undefined || definition.transport.kind !== "stdio") return undefined;
  const { name, sandbox } = definition;
  if (sandbox === undefined) return { isOn: false, fields: [], refused: [] };
  const { fingerprint } = host.gateway.identify(name) ?? {};
  const approvals = await readToolApprovals(host.configuration.locations.state);
  const approved = approvals.filter(
    (each) => each.kind === "host" && each.server === name && each.fingerprint === fingerprint,
  );
  const orNothing = (values: readonly string[], word = "nothing"): readonly string[] =>
    values.length === 0 ? [word] : values;
  const hosts = [...sandbox.hosts, ...sandbox.tcp, ...approved.map(({ tool }) => `${tool} (always, by your answer)`)];
  const fields = [
    { label: safe`reads`, values: orNothing(sandbox.read, "its own files").map(toVisibleLine) },
    { label: safe`writes`, values: orNothing(sandbox.write, "its private home").map(toVisibleLine) },
    { label: safe`reaches`, values: orNothing(hosts).map(toVisibleLine) },
    { label: safe`variables`, values: orNothing(sandbox.env, "those of its entry").map(toVisibleLine) },
  ];
  return { isOn: true, fields: fields.map(toServerField), refused: host.gateway.servers.get(name).wantedHosts.refused };
}

/** The definitions of one server that differ from the accepted or locked ones. */
export async function changesOf(host: OpenedHost, name: string): Promise<readonly ChangedDefinition[]> {
  const server = host.gateway.servers.get(name);
  const listed = server.listedBy();
  return Promise.all(
    changedItems(server).map(async ({ kind, name: item }) => {
      const tool = kind === "tool" ? listed.toolOf(item) : undefined;
      const differences = (await host.changeOf(name, item, kind)) ?? [];
      return { kind, name: item, digest: tool && definitionDigest(tool), differences };
    }),
  );
}

/** What `mcp get` shows. Before an approval: all that the person approves. */
function fieldsOf({ server, admission }: AdmittedServer, configuration: Configuration): readonly Field[] {
  const { definition, shadows } = server;
  if (definition === undefined) return [];
  const isWaiting = admission.status === "blocked" && admission.reason === "awaiting_approval";
  if (isWaiting) return approvalFields(definition, server);
  const replaces = { label: safe`replaces`, values: shadows.map((origin) => positionText(origin)) };
  return [replaces, ...definitionFields(definition, configuration, trustValues({ server, admission }, configuration))];
}

function toServerField({ label, values }: Field): ServerField {
  return { label, values };
}

function isShown({ values }: ServerField): boolean {
  return values.length > 0;
}

type TestedServer = ServerCommands["servers/test"]["result"];

/**
 * Connects a server over a connection of its own, and says what each step found. The host's connection stays as it is.
 *
 * @throws HostError `server_unknown`, `usage` for the demo server
 */
export async function testServer(
  { configuration }: OpenedHost,
  name: string,
  signal: AbortSignal,
): Promise<TestedServer> {
  const found = configuration.servers.find(({ server }) => server.name === name);
  if (found === undefined)
    throw new HostError("usage", `"${name}" cannot be tested: it is built into Fairlead`, { serverName: name });
  const { server, admission } = found;
  const began = new Date().toISOString();
  const { steps, hide, observe } = new ObservedSteps();
  let state = initialServerState(name, admission, 0);
  let notes: readonly string[] = [];
  if (admission.status === "admitted") {
    const host = openHost(configuration, { observe, interactive: false });
    try {
      await host.start({ servers: [name], signal });
      state = host.states().find((each) => each.name === name) ?? state;
      notes = noteLines(state, notesOf(host.catalog(name), hide), hide);
    } finally {
      await host[Symbol.asyncDispose]();
    }
  }
  const words = await lastOutput(found, state, configuration.locations.state, began);
  const isConnected = state.status === "connected";
  const roots = server.definition === undefined ? [] : [rootsWords(server.definition, configuration)];
  const why = "message" in state ? state.message : state.status;
  return {
    steps: [
      ...steps.map((step) => ({
        label: step.step === "list" ? step.method : step.step,
        isOk: step.step !== "list" || step.refused === undefined,
        text: [...stepLines(step, server.origin), ...(step.step === "definition" ? roots : [])].join("\n"),
        milliseconds: Math.round(step.milliseconds),
      })),
      ...notes.map((text) => ({ label: "note", isOk: true, text })),
      ...(words.lines.length === 0
        ? []
        : [{ label: words.label, isOk: isConnected, text: hide(words.lines.join("\n")) }]),
      { label: "result", isOk: isConnected, text: isConnected ? "connected" : hide(why) },
    ],
  };
}
