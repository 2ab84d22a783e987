/** Runs one turn of `fairlead -p`: asks no questions, writes data to stdout and messages to stderr. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { createManualModel } from "@fairlead/core/model/manual";
import type { Model } from "@fairlead/core/model/model";
import { ToolConfirmationOutcome } from "@fairlead/core/registry/confirmation";
import type { Conversation } from "@fairlead/core/turn/conversation";
import type { TurnEvent } from "@fairlead/core/turn/events";
import { createLineLog, type ProgressLine } from "../output/reports/progress.ts";
import { configurationOf } from "../shell/configuration.ts";
import { warnOfPolicyProblems } from "../shell/policy-problems.ts";
import { usageError } from "../shell/usage-error.ts";
import type { Context } from "../shell/verb.ts";
import { modelFor } from "../targets/choose-model.ts";
import type { ToolTarget } from "../targets/target.ts";
import { useHost } from "../targets/with-host.ts";
import { checkServers, readAllowed, unknownToolNotes } from "./chosen-servers.ts";
import { endingOf } from "./ending.ts";
import { readManualLine } from "./manual-line.ts";
import { composeMessage, type HeadlessMessage } from "./message.ts";
import { type HeadlessOptions, readOptions } from "./options.ts";
import { readPiped } from "./piped.ts";
import { callTitle } from "./stderr-lines.ts";
import { createTurnWriter, type TurnWriter } from "./writer.ts";

export async function runHeadless(context: Context): Promise<void> {
  const options = readOptions(context);
  const writer = createTurnWriter(options.format, context.out);
  const failure = await converse(options, writer, context).catch((error: unknown) => {
    if (error instanceof HostError) return error;
    throw error;
  });
  writer.end(failure);
  if (failure !== undefined) throw failure;
}

/** Returns the error that determines the exit code, if any. */
async function converse(
  options: HeadlessOptions,
  writer: TurnWriter,
  context: Context,
): Promise<HostError | undefined> {
  const piped = await readPiped(context.io, context.out);
  if (options.typed.trim() === "" && (piped ?? "").trim() === "")
    throw usageError("the prompt is empty, and stdin has no input", context);
  const configuration = await configurationOf(context);
  checkServers(options.servers ?? [], configuration);
  const allow = await readAllowed(options.allow, configuration, context);
  const model =
    options.model === "manual" ? undefined : await modelFor(configuration, options.model, context.io.signal);
  // A turn may take long, so lost servers reconnect.
  const how = { approvalMode: options.mode, interactive: false, recover: true, allow };
  return useHost(
    configuration,
    context,
    async (host) => {
      await host.recall();
      await warnOfPolicyProblems(host, context);
      const message =
        model === undefined ? commands(options.typed, piped) : await composeMessage(options, piped, host, context);
      const conversation = open(model && counted(model, writer), message, options, host, context);
      const { provider, name } = conversation.model;
      writer.start({ provider, name });
      for (const note of notesFor(message, allow, host)) writer.event({ type: "note", message: note });
      return take(conversation, message, options, writer, context);
    },
    how,
  );
}

/** Wraps the model so that the writer counts every request to it. */
function counted(model: Model, { asked }: TurnWriter): Model {
  return {
    ...model,
    stream(...request) {
      asked();
      return model.stream(...request);
    },
  };
}

/** With `--model manual` the text is a list of calls; references in it are not expanded. */
function commands(typed: string, piped: string | undefined): HeadlessMessage {
  return { history: [], parts: [{ text: typed.trim() === "" ? (piped ?? "") : typed }], notes: [] };
}

function notesFor(message: HeadlessMessage, allow: readonly ToolTarget[], host: Host): readonly string[] {
  return [...message.notes, ...unknownToolNotes(allow, host)];
}

function open(
  model: Model | undefined,
  { history }: HeadlessMessage,
  { servers, wait, maxTurns }: HeadlessOptions,
  host: Host,
  context: Context,
): Conversation {
  const manual = createManualModel({
    parse: async (line) => ({
      kind: "call",
      call: await readManualLine(line, { host, tools: conversation.tools() }, context),
    }),
  });
  const conversation = host.conversation({
    model: model ?? manual,
    history,
    ...(servers && { servers }),
    ...(wait !== undefined && { wait }),
    ...(maxTurns !== undefined && { limits: { turns: maxTurns } }),
  });
  return conversation;
}

async function take(
  conversation: Conversation,
  { parts }: HeadlessMessage,
  options: HeadlessOptions,
  writer: TurnWriter,
  context: Context,
): Promise<HostError | undefined> {
  const tellProgress = createCallProgress(context);
  for await (const event of conversation.send(parts, { signal: context.io.signal })) {
    writer.event(event);
    tellProgress(event);
    // No terminal to ask on.
    if (event.type === "confirmation") await event.details.onConfirm(ToolConfirmationOutcome.Cancel);
    if (event.type === "error") return event.error;
    if (event.type === "done") return endingOf(event, options);
  }
  return new HostError("internal", "the turn ended without a done or error event");
}

/** Prints the progress of calls to stderr, one line per update, because several calls may run at once. */
function createCallProgress({ io, globals }: Pick<Context, "io" | "globals">): (event: TurnEvent) => void {
  const lines = new Map<string, ProgressLine>();
  if (globals.quiet) return () => {};
  return (event) => {
    if (event.type === "call" && !lines.has(event.id)) lines.set(event.id, createLineLog(callTitle(event), io.stderr));
    if (event.type === "progress") lines.get(event.id)?.update(event);
  };
}
