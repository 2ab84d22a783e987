/** `fairlead mcp test`: connects to one server and shows each step. */

import {
  lastOutput,
  noteLines,
  notesOf,
  ObservedSteps,
  type Step,
  stepDocument,
  stepLines,
} from "@fairlead/console/server/words/connect-steps";
import { rootFolders, rootsWords } from "@fairlead/console/server/words/server-details";
import { toShellWord } from "@fairlead/core/plain-text";
import { initialServerState, notConnectedError } from "@fairlead/core/server";
import { sandboxLine } from "@fairlead/core/settings";
import { joinSafe, padSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import { serverDocument, stateWords } from "../../output/servers/server-state.ts";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { connectServers, createWaitingLine } from "../../targets/connect-servers.ts";
import { useHost } from "../../targets/with-host.ts";
import { findServer } from "./find-server.ts";

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

async function connect({ server, admission }: AdmittedServer, configuration: Configuration, context: Context) {
  const { out, globals } = context;
  const { name, origin, definition } = server;
  const before = initialServerState(name, admission, 0);
  const waiting = createWaitingLine(context);
  const { steps, hide, observe } = new ObservedSteps((step) => {
    waiting.hide();
    if (globals.json) return;
    out.show(stepText(step.step, stepLines(step, origin), step.milliseconds));
    if (step.step !== "definition" || definition === undefined) return;
    out.show(stepText("roots", [rootsWords(definition, configuration)]));
    const box = sandboxLine(definition);
    if (box !== undefined) out.show(stepText("sandbox", [toSafeLine(box)]));
  });
  if (admission.status !== "admitted") return { state: before, steps, catalog: undefined, hide };
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

type Label = Step["step"] | "roots" | "sandbox" | "note" | "stderr" | "answer";
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
