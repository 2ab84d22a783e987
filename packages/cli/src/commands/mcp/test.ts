/** `fairlead mcp test`: connects to one server and shows each step. */

import { readFile } from "node:fs/promises";
import type { Redact } from "@fairlead/core/connect/redact";
import { logPath } from "@fairlead/core/connect/server-log";
import type { Catalog } from "@fairlead/core/discover/catalog";
import type { ServerState } from "@fairlead/core/events";
import { initialServerState, notConnectedError } from "@fairlead/core/mcp/server-state";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import { type Step, stepDocument, stepLines, stepText, withoutSecrets } from "../../output/servers/connect-steps.ts";
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

  define: (command) => command.argument("<name>", "name from fairlead mcp list"),

  async run(context) {
    const { out, globals, operands } = context;
    const configuration = await configurationOf(context);
    const found = findServer(configuration, operands[0] ?? "");
    if (!globals.json) out.print(out.style.bold(toSafeLine(found.server.name)));
    const began = new Date().toISOString();
    const { state, steps, catalog, hide } = await connect(found, configuration, context);
    const words = await lastOutput(found, state, configuration.locations.state, began);
    const notes = notesOf(catalog, hide);
    const isConnected = state.status === "connected";
    if (globals.json)
      out.json({
        ok: isConnected,
        ...serverDocument({ server: found.server, state }),
        steps: steps.map(stepDocument),
        ...notes,
        [words.label]: words.lines,
      });
    else {
      const lines = noteLines(state, notes, hide);
      if (lines.length > 0) out.print(stepText("note", lines));
      if (words.lines.length > 0) out.print(stepText(words.label, words.lines.map(toSafeLine)));
    }
    if (!isConnected) throw notConnectedError(state);
    if (globals.json) return;
    out.print(out.style.green(stateWords(state)));
    out.say(safe`next: fairlead tools ${toSafeLine(toShellWord(found.server.name))}`);
  },
};

interface Outcome {
  readonly state: ServerState;
  readonly steps: readonly Step[];
  readonly catalog: Catalog | undefined;
  /** Removes the server's secrets from text. */
  readonly hide: Redact;
}

type Notes = Pick<Catalog, "dropped" | "repaired" | "truncated">;

async function connect(
  { server, admission }: AdmittedServer,
  configuration: Configuration,
  context: Context,
): Promise<Outcome> {
  const { out, globals } = context;
  const { name, origin } = server;
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
    if (!globals.json) out.print(stepText(step.step, stepLines(step, origin), step.milliseconds));
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
      ...(name === undefined ? {} : { name: hide(name) }),
      reason: hide(reason),
    }));
  return { dropped: hidden(dropped), repaired: hidden(repaired), truncated: hidden(truncated) };
}

/** The server's note, and list items that were dropped, repaired or truncated. */
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

/** The last stderr lines of a process, or the first lines of an HTTP response that is not MCP. */
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

/** The last stderr lines since `began` (ISO 8601), from the log, which has no secrets. */
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
