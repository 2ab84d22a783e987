/** The steps of connecting to a server, in words: for `fairlead mcp test` and for the console. */

import { readFile } from "node:fs/promises";
import { type ConnectStep, logPath, type Redact } from "@fairlead/core/connect";
import type { ServerState } from "@fairlead/core/events";
import type { Catalog, ListStep } from "@fairlead/core/server";
import type { Origin } from "@fairlead/core/settings";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer } from "@fairlead/core/trust";
import { positionText } from "./server-details.ts";
import { redact } from "./server-redaction.ts";

/** A step of a connection attempt, or of reading the server's lists. */
export type Step = ConnectStep | ListStep;

/** Notes about list items that Fairlead dropped, repaired or truncated. */
export type Notes = Pick<Catalog, "dropped" | "repaired" | "truncated">;

const mostLines = 10;
const logged = /^\S+ stderr /;

/** Collects the steps of one connection attempt, with secrets hidden. Pass `observe` to the host. */
export class ObservedSteps {
  readonly steps: Step[] = [];
  readonly #onStep: (step: Step) => void;
  #hide: Redact = (text) => text;

  /** @param onStep Called with each step, without secrets. */
  constructor(onStep: (step: Step) => void = () => {}) {
    this.#onStep = onStep;
  }

  /** Hides the server's secrets. Before the first step, hides nothing. */
  readonly hide: Redact = (text) => this.#hide(text);

  readonly observe = (_server: string, told: Step): void => {
    if (told.step === "definition") this.#hide = told.redact;
    const step = withoutSecrets(told, this.#hide);
    this.steps.push(step);
    this.#onStep(step);
  };
}

/** Returns the notes about a catalog, with secrets hidden. */
export function notesOf(catalog: Catalog | undefined, hide: Redact): Notes {
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
export function noteLines(state: ServerState, { dropped, repaired, truncated }: Notes, hide: Redact): SafeText[] {
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
export async function lastOutput(
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

/** Returns a step as lines. After the definition, the roots follow as a line of their own (`rootsWords`). */
export function stepLines(step: Step, origin: Origin): SafeText[] {
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
export function stepDocument(step: Step): object {
  const { milliseconds, ...rest } = step;
  const durationMs = Math.round(milliseconds);
  if (rest.step !== "definition") return { ...rest, durationMs };
  const { transport, timeout } = rest;
  const shown = redact(transport);
  const { kind } = shown;
  const target = shown.kind === "stdio" ? { command: shown.command, args: shown.args } : { url: shown.url };
  return { step: rest.step, transport: kind, ...target, patience: timeout, durationMs };
}
