/** `fairlead mcp test`: connects to one server and shows each step. */

import { readFile } from "node:fs/promises";
import { type ConnectStep, logPath, type Redact } from "@fairlead/core/connect";
import type { ServerState } from "@fairlead/core/events";
import { toShellWord } from "@fairlead/core/plain-text";
import { type Catalog, initialServerState, type ListStep, notConnectedError } from "@fairlead/core/server";
import type { Origin } from "@fairlead/core/settings";
import { joinSafe, padSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import { positionText, rootFolders, rootsWords } from "../../output/servers/server-details.ts";
import { redact } from "../../output/servers/server-redaction.ts";
import { serverDocument, stateWords } from "../../output/servers/server-state.ts";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { connectServers, createWaitingLine } from "../../targets/connect-servers.ts";
import { useHost } from "../../targets/with-host.ts";
import { findServer } from "./find-server.ts";

const mostLines = 10;
const logged = /^\S+ stderr /;

export const verb: Verb = {
  help: `
Shows each step with its duration: the resolved entry, the program, the names of the variables passed to it and withheld
from it, the start, the handshake, the lists, unusable tools, and the last stderr lines. Values of variables are never
shown. Exits with the code of the error (fairlead help errors).

Examples:
  fairlead mcp test github
  fairlead mcp test github --json
  fairlead mcp test github --debug; fairlead mcp logs github --grep wire`,

  define: (command) => command.argument("<name>", "name of the server (see: fairlead mcp list)"),

  async run(context) {
    const { out, globals, operands } = context;
    const configuration = await configurationOf(context);
    const found = findServer(configuration, operands[0] ?? "");
    if (!globals.json) out.show(out.style.bold(toSafeLine(found.server.name)));
    const began = new Date().toISOString();
    const { state, steps, catalog, hide } = await connect(found, configuration, context);
    const words = await lastOutput(found, state, configuration.locations.state, began);
    const notes = notesOf(catalog, hide);
    const isConnected = state.status === "connected";
    if (globals.json)
      out.json({
        ok: isConnected,
        ...serverDocument({ server: found.server, state }),
        roots: found.server.definition && rootFolders(found.server.definition, configuration),
        steps: steps.map(stepDocument),
        ...notes,
        [words.label]: words.lines,
      });
    else {
      const lines = noteLines(state, notes, hide);
      if (lines.length > 0) out.show(stepText("note", lines));
      if (words.lines.length > 0) out.show(stepText(words.label, words.lines.map(toSafeLine)));
    }
    if (!isConnected) throw notConnectedError(state);
    if (globals.json) return;
    out.show(out.style.green(stateWords(state)));
    out.say(safe`next: fairlead tools ${toSafeLine(toShellWord(found.server.name))}`);
  },
};

type Notes = Pick<Catalog, "dropped" | "repaired" | "truncated">;

async function connect({ server, admission }: AdmittedServer, configuration: Configuration, context: Context) {
  const { out, globals } = context;
  const { name, origin, definition } = server;
  const before = initialServerState(name, admission, 0);
  let hide: Redact = (text) => text;
  if (admission.status !== "admitted") return { state: before, steps: [], catalog: undefined, hide };
  const steps: Step[] = [];
  const waiting = createWaitingLine(context);
  const observe = (_server: string, told: Step): void => {
    if (told.step === "definition") hide = told.redact;
    const step = withoutSecrets(told, hide);
    steps.push(step);
    waiting.hide();
    if (globals.json) return;
    out.show(stepText(step.step, stepLines(step, origin), step.milliseconds));
    if (step.step === "definition" && definition !== undefined)
      out.show(stepText("roots", [rootsWords(definition, configuration)]));
  };
  return useHost(
    configuration,
    context,
    async (host) => {
      await connectServers(host, [name], context, { waiting });
      const state = host.states().find((other) => other.name === name) ?? before;
      return { state, steps, catalog: host.catalog(name), hide };
    },
    { observe },
  );
}

function notesOf(catalog: Catalog | undefined, hide: Redact): Notes {
  const { dropped = [], repaired = [], truncated = [] } = catalog ?? {};
  const hidden = (notes: Notes["dropped"]): Notes["dropped"] =>
    notes.map(({ name, reason, ...note }) => ({
      ...note,
      name: name === undefined ? undefined : hide(name),
      reason: hide(reason),
    }));
  return { dropped: hidden(dropped), repaired: hidden(repaired), truncated: hidden(truncated) };
}

/** Returns notes about the server's state and about list items that Fairlead dropped, repaired or truncated. */
function noteLines(state: ServerState, { dropped, repaired, truncated }: Notes, hide: Redact): SafeText[] {
  const lines = (words: SafeText, notes: Notes["dropped"]): SafeText[] =>
    notes.map(({ kind, name = "", reason }) => {
      const parts = [kind, name, reason].filter((part) => part !== "");
      return safe`${words}: ${toSafeLine(parts.join(": "))}`;
    });
  const note = state.status === "connected" ? state.offer?.note : undefined;
  return [
    ...(note === undefined ? [] : [toSafeLine(hide(note))]),
    ...lines(safe`dropped`, dropped),
    ...lines(safe`repaired`, repaired),
    ...lines(safe`truncated`, truncated),
  ];
}

/** Returns the last stderr lines of a process, or the first lines of an HTTP response that is not MCP. */
async function lastOutput(
  { server }: AdmittedServer,
  state: ServerState,
  folder: string,
  began: string,
): Promise<{ readonly label: "stderr" | "answer"; readonly lines: readonly string[] }> {
  const label = server.kind === "stdio" ? "stderr" : "answer";
  const evidence = "evidence" in state ? state.evidence : undefined;
  const said = evidence?.split("\n");
  if (label === "answer") return { label, lines: said?.slice(0, mostLines) ?? [] };
  return { label, lines: said?.slice(-mostLines) ?? (await readStderr(logPath(folder, server.name), began)) };
}

/** Reads the last stderr lines since `began` (ISO 8601) from the server's log, which contains no secrets. */
async function readStderr(path: string, began: string): Promise<readonly string[]> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  return text
    .split("\n")
    .filter((line) => line >= began && logged.test(line))
    .slice(-mostLines)
    .map((line) => line.replace(logged, ""));
}

/** A step of a connection attempt, or of reading the server's lists. */
type Step = ConnectStep | ListStep;
type Label = Step["step"] | "roots" | "note" | "stderr" | "answer";
const labelWidth = "environment".length;

/** Formats a step: its label, then its lines. The first line ends with the step's duration, if at least 1 ms. */
function stepText(label: Label, lines: readonly SafeText[], milliseconds?: number): SafeText {
  const time = milliseconds === undefined || milliseconds < 1 ? safe`` : safe`  (${Math.round(milliseconds)} ms)`;
  return joinSafe(
    lines.map((line, at) => {
      const head = padSafe(toSafeLine(at === 0 ? label : ""), labelWidth);
      return safe`  ${head}  ${line}${at === 0 ? time : safe``}`;
    }),
  );
}

/** Returns the step with secrets hidden, because a server's message or a path can contain them. */
function withoutSecrets(step: Step, hide: Redact): Step {
  switch (step.step) {
    case "definition":
    case "environment":
    case "start":
      return step;
    case "program": {
      const { file, cwd, droppedPath } = step;
      return {
        ...step,
        file: file === undefined ? undefined : hide(file),
        cwd: hide(cwd),
        droppedPath: droppedPath.map(hide),
      };
    }
    case "handshake": {
      const { name, version, title } = step.serverInfo;
      const serverInfo = {
        name: hide(name),
        version: hide(version),
        title: title === undefined ? undefined : hide(title),
      };
      return { ...step, serverInfo };
    }
    case "machine":
      return { ...step, detail: hide(step.detail) };
    case "list":
      return step.refused === undefined ? step : { ...step, refused: hide(step.refused) };
  }
}

function stepLines(step: Step, origin: Origin): SafeText[] {
  switch (step.step) {
    case "definition": {
      const { transport, timeout } = step;
      return [
        safe`${positionText(origin)} (${toSafeLine(origin.scope)})`,
        targetLine(transport),
        safe`waits at most ${timeout.milliseconds} ms (${toSafeLine(timeout.setting)})`,
      ];
    }
    case "program":
      return [
        step.file === undefined ? safe`not found` : toVisibleLine(step.file),
        safe`in ${toVisibleLine(step.cwd)}`,
        ...(step.droppedPath.length === 0
          ? []
          : [safe`PATH entries ignored because the workspace is not trusted: ${names(step.droppedPath)}`]),
      ];
    case "environment":
      return [
        safe`variables passed on: ${names(step.passed)}`,
        ...(step.set.length === 0 ? [] : [safe`variables set by the entry: ${names(step.set)}`]),
        safe`variables withheld: ${names(step.withheld)}`,
      ];
    case "start":
      return [safe`process started`];
    case "machine":
      return [safe`${toSafeLine(step.action)}: ${toVisibleLine(step.detail)}`];
    case "handshake": {
      const { serverInfo, protocolVersion, era, transport } = step;
      const server = safe`${toSafeLine(serverInfo.name)} ${toSafeLine(serverInfo.version)}`;
      const kind = era === "modern" ? safe`stateless` : safe`with a session`;
      return [safe`${server}, protocol ${toSafeLine(protocolVersion)} (${kind}) over ${transportWords(transport)}`];
    }
    case "list": {
      const items = step.refused === undefined ? safe`${step.items}` : safe`refused: ${toSafeLine(step.refused)}`;
      return [safe`${toSafeLine(step.method)}: ${items}`];
    }
  }
}

function transportWords(transport: "stdio" | "http" | "sse"): SafeText {
  return toSafeLine({ stdio: "stdio", http: "streamable HTTP", sse: "HTTP+SSE" }[transport]);
}

function targetLine(transport: Parameters<typeof redact>[0]): SafeText {
  const shown = redact(transport);
  return shown.kind === "stdio"
    ? safe`stdio: ${toVisibleLine([shown.command, ...shown.args].join(" "))}`
    : safe`${shown.kind === "http-or-sse" ? safe`http, then sse` : toSafeLine(shown.kind)}: ${toVisibleLine(shown.url)}`;
}

function names(list: readonly string[]): SafeText {
  return list.length === 0 ? safe`(nothing)` : joinSafe(list.map(toVisibleLine), safe`, `);
}

/** Returns the step as JSON, with values of variables and headers hidden. */
function stepDocument(step: Step): object {
  const { milliseconds, ...rest } = step;
  const durationMs = Math.round(milliseconds);
  if (rest.step !== "definition") return { ...rest, durationMs };
  const { transport, timeout } = rest;
  const shown = redact(transport);
  const { kind } = shown;
  const target = shown.kind === "stdio" ? { command: shown.command, args: shown.args } : { url: shown.url };
  return { step: rest.step, transport: kind, ...target, patience: timeout, durationMs };
}
