/** Runs one turn of `fairlead -p`. Asks no questions, writes data to stdout and messages to stderr. */

import { HostError } from "@fairlead/core/errors";
import { demoName, type Host } from "@fairlead/core/host";
import { createManualModel, type Model } from "@fairlead/core/model";
import { ToolConfirmationOutcome } from "@fairlead/core/policy";
import type { Configuration } from "@fairlead/core/trust";
import type { CallFailure, Conversation, DoneReason, MissingServer, TurnEvent } from "@fairlead/core/turn";
import { modelNameOf, wantedConversation } from "../conversations/find-conversation.ts";
import { createLineLog, type ProgressLine } from "../output/reports/progress.ts";
import {
  configurationOf,
  configurationOptions,
  printConfigurationNotes,
  warnOfPolicyProblems,
} from "../shell/configuration.ts";
import { type Context, nameHint, usageError } from "../shell/verb.ts";
import { openStatelessInBackground } from "../targets/background.ts";
import { modelFor } from "../targets/choose-model.ts";
import { skippedError } from "../targets/connect-servers.ts";
import { useHost } from "../targets/with-host.ts";
import { createAllowedNotes, readAllowed } from "./allowed.ts";
import { confirmInInbox } from "./inbox-confirmation.ts";
import { readManualLine, serversOfCalls } from "./manual-line.ts";
import { composeMessage, type HeadlessMessage } from "./message.ts";
import { type HeadlessOptions, readOptions } from "./options.ts";
import { readPiped } from "./piped.ts";
import { callTitle } from "./stderr-lines.ts";
import { createTurnWriter, type TurnWriter } from "./writer.ts";

/** Runs `fairlead -p`. @throws HostError that determines the exit code, if the turn fails */
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

/** Runs the turn. Returns the error that determines the exit code, if there is one. */
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
  const allow = await readAllowed(options.allow, fileNamesIn(configuration), configuration, context);
  const resumed = await wantedConversation(options.resuming, configuration);
  const wanted = options.model ?? (resumed && modelNameOf(resumed));
  const model = wanted === "manual" ? undefined : await modelFor(configuration, wanted, context.io.signal);
  // A turn may take long: a server that loses its connection reconnects, and the host follows the IDE.
  const following = { recover: true, ide: context.ide, from: configurationOptions(context) };
  const background = { open: openStatelessInBackground(() => configuration, context), report: () => {} };
  const confirm = await confirmInInbox(configuration.locations.state, context);
  const confirmation = { interactive: confirm !== undefined, confirm };
  const how = { approvalMode: options.mode, ...confirmation, allow, background, ...following };
  return useHost(
    configuration,
    context,
    async (host) => {
      // The host has read its settings again.
      host.on("servers", () => printConfigurationNotes(host.configuration, context));
      await host.recall();
      await warnOfPolicyProblems(host, context);
      const message =
        model === undefined ? commands(options.typed, piped) : await composeMessage(options, piped, host, context);
      const turn = new HeadlessTurn(options, host, writer, context);
      const conversation = await turn.open(model, resumed?.id);
      const { provider, name } = conversation.model;
      writer.start({ provider, name }, conversation.id);
      const notesOfAllowed = createAllowedNotes(allow, host);
      for (const note of [...message.notes, ...notesOfAllowed()]) writer.event({ type: "note", message: note });
      return turn.run(conversation, message, notesOfAllowed);
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

/** Builds the message for `--model manual`: a list of calls. References such as `@file` stay unchanged. */
function commands(typed: string, piped: string | undefined): HeadlessMessage {
  return { history: [], parts: [{ text: typed.trim() === "" ? (piped ?? "") : typed }], notes: [] };
}

/** Returns the servers that failed in an earlier run, each with an error. The turn does not wait for these servers. */
async function notTried(host: Host): Promise<readonly MissingServer[]> {
  const now = Date.now();
  return (await host.failedStarts()).map((failed) => {
    const { message, next } = skippedError(failed, now);
    return { server: failed.server, message, next };
  });
}

/** One turn: opens its conversation, sends the message, and writes the events. */
class HeadlessTurn {
  readonly #options: HeadlessOptions;
  readonly #host: Host;
  readonly #writer: TurnWriter;
  readonly #context: Context;
  /** The last failed call. With `--model manual`, its error explains why Fairlead did not run the remaining lines. */
  #failure: CallFailure | undefined;

  constructor(options: HeadlessOptions, host: Host, writer: TurnWriter, context: Context) {
    this.#options = options;
    this.#host = host;
    this.#writer = writer;
    this.#context = context;
  }

  /** `model`: undefined for `--model manual`. `resume`: the id of the conversation to continue. */
  async open(model: Model | undefined, resume: string | undefined): Promise<Conversation> {
    const host = this.#host;
    const { servers, wait, maxTurns } = this.#options;
    const manual = createManualModel({
      onStopped: (left) => {
        const rest = left === 1 ? "the last line was not run" : `the other ${left} lines were not run`;
        const { code = "tool_error", message: why = "a call failed" } = this.#failure ?? {};
        throw new HostError(code, `${rest}: ${why}`);
      },
      parse: async (line) => ({
        kind: "call",
        call: await readManualLine(line, { host, tools: conversation.tools() }, this.#context),
      }),
    });
    const how = {
      model: model === undefined ? manual : counted(model, this.#writer),
      notTried: await notTried(host),
      servers,
      wait,
      limits: maxTurns === undefined ? undefined : { turns: maxTurns },
    };
    const conversation: Conversation =
      resume === undefined ? host.conversation(how) : await host.conversation({ ...how, resume });
    return conversation;
  }

  /**
   * Returns the error that determines the exit code, if there is one.
   * @param notesOfAllowed Returns warnings about mistyped tools in `--allow`. Each call returns only warnings that no
   * earlier call returned.
   */
  async run(
    conversation: Conversation,
    { history: before, parts }: HeadlessMessage,
    notesOfAllowed: () => readonly string[],
  ): Promise<HostError | undefined> {
    const { io } = this.#context;
    const tellProgress = createCallProgress(this.#context);
    const text = parts[0]?.text ?? "";
    const shown = this.#options.typed.trim() === "" ? text : this.#options.typed;
    // Typed calls wait for their own servers only.
    const waitFor =
      conversation.model.provider === "manual"
        ? await serversOfCalls(text, { host: this.#host, tools: conversation.tools() })
        : undefined;
    for await (const event of conversation.send(parts, { signal: io.signal, waitFor, before, shown })) {
      if (event.type === "done" || event.type === "error")
        for (const message of notesOfAllowed()) this.#writer.event({ type: "note", message });
      this.#writer.event(event);
      tellProgress(event);
      if (event.type === "call" && event.error !== undefined) this.#failure = event.error;
      // The confirmation is refused, because there is no terminal to ask on.
      if (event.type === "confirmation") await event.details.onConfirm(ToolConfirmationOutcome.Cancel);
      if (event.type === "error") return event.error;
      if (event.type === "done") return endingOf(event, this.#options);
    }
    return new HostError("internal", "the turn ended without a done or error event");
  }
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

type Done = Extract<TurnEvent, { readonly type: "done" }>;

/** Returns the error that determines the exit code, if the turn is incomplete or a call was denied. */
export function endingOf(
  { reason, denied }: Pick<Done, "reason" | "denied">,
  { failOnDenied }: { readonly failOnDenied: boolean },
): HostError | undefined {
  const cut = unfinished(reason);
  if (cut !== undefined || !failOnDenied || denied === 0) return cut;
  const what = denied === 1 ? "a call was denied" : `${denied} calls were denied`;
  return new HostError("denied", what, { next: "add --allow SERVER.TOOL, or remove --fail-on-denied" });
}

function unfinished(reason: DoneReason): HostError | undefined {
  switch (reason) {
    case "stop":
      return undefined;
    case "cancelled":
      return new HostError("cancelled", "cancelled");
    case "length":
      return new HostError("model", "the answer is incomplete: it reached the model's output limit");
    case "safety":
      return new HostError("model", "the model's API stopped the answer for safety reasons", {
        next: "rephrase the prompt",
      });
    case "limit":
      return new HostError("model", "the turn is incomplete: it reached the limit on requests or calls", {
        next: "raise --max-turns, or ask for less",
      });
  }
}

function fileNamesIn({ servers }: Configuration): readonly string[] {
  return [...new Set([...servers.map(({ server }) => server.name), demoName])];
}

/** @throws HostError `server_unknown` */
function checkServers(wanted: readonly string[], configuration: Configuration): void {
  const configuredNames = fileNamesIn(configuration);
  for (const name of wanted) {
    if (configuredNames.includes(name)) continue;
    const suggestion = nameHint(name, configuredNames);
    throw new HostError("server_unknown", `there is no server "${name}"${suggestion}`, { next: "fairlead mcp list" });
  }
}
