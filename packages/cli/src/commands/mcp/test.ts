/** `fairlead mcp test`: connects to one server, step by step, and says how far it came. */

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
import { createWaitingLine } from "../../output/servers/waiting-line.ts";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { connectServers } from "../../targets/connect-servers.ts";
import { useHost } from "../../targets/with-host.ts";
import { findServer } from "./find-server.ts";

const mostLines = 10;
const logged = /^\S+ stderr /;

export const verb: Verb = {
  define(command) {
    command.argument("<name>", "as in fairlead mcp list").addHelpText(
      "after",
      `
Goes from the entry to the lists, and shows each step with the time it took: what the entry comes to, which program it
is, the names of the variables that it sees and of those that are withheld from it, the start, the handshake, what it
offers and what of that cannot be used, and the end of what it wrote to stderr. Values are never shown.
Exits with the code of what went wrong (fairlead help errors).

Examples:
  fairlead mcp test github
  fairlead mcp test github --json
  fairlead mcp test github --debug; fairlead mcp logs github --grep wire`,
    );
  },

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
    out.say(safe`look: fairlead tools ${toSafeLine(toShellWord(found.server.name))}`);
  },
};

interface Outcome {
  readonly state: ServerState;
  readonly steps: readonly Step[];
  readonly catalog: Catalog | undefined;
  /** Takes the server's secrets out of whatever it says. */
  readonly hide: Redact;
}

type Notes = Pick<Catalog, "dropped" | "repaired" | "truncated">;

/** Prints each step when it is done. */
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

/** What the server said and what is not taken as it was said. */
function noteLines(state: ServerState, { dropped, repaired, truncated }: Notes, hide: Redact): SafeText[] {
  const lines = (words: SafeText, notes: Notes["dropped"]): SafeText[] =>
    notes.map(({ kind, name = "", reason }) => {
      const parts = [kind, name, reason].filter((part) => part !== "");
      return safe`${words}: ${toSafeLine(parts.join(": "))}`;
    });
  const note = state.status === "connected" ? state.offer?.note : undefined;
  return [
    ...(note === undefined ? [] : [toSafeLine(hide(note))]),
    ...lines(safe`left out`, dropped),
    ...lines(safe`repaired`, repaired),
    ...lines(safe`cut off`, truncated),
  ];
}

/** The end of what it wrote to stderr, or the beginning of an answer that made no sense. */
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

/** The end of what was written since `began`. The log has it without secrets. */
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
