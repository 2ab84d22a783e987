/** Runs all tool calls in one answer of the model in parallel. */

import type { JsonObject, Progress } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import { HostError } from "../errors.ts";
import type { RunningHost } from "../host/running-host.ts";
import { isAcceptedInResponse } from "../normalise/content/media-type.ts";
import { shorten } from "../normalise/content/shorten.ts";
import type { Content, FunctionCall, Part } from "../normalise/model-types.ts";
import type { ConfirmPort } from "../policy/confirmation.ts";
import { applyAnswer, type ToolCallConfirmationDetails, type ToolConfirmationOutcome } from "../policy/confirmation.ts";
import { callForModel } from "../request/calls.ts";
import { runRequest } from "../request/run.ts";
import type { CallWatch, LargeResults, RegisteredTool, ToolExecution } from "../server/registered-tool.ts";
import type { ConversationState, SendOptions } from "./conversation.ts";
import type { CallEvent, CallStatus, TurnEvent } from "./events.ts";
import { explainUnknown, statusOf, tellFailure, toCallFailure, toHostError } from "./failure-messages.ts";
import { type CallResponse, responseContents, toResponse } from "./history.ts";
import { innerCall, runOwnFunction } from "./own-calls.ts";
import type { Found } from "./tools/conversation-tools.ts";
import { untilAborted } from "./until-aborted.ts";

/** The response to one tool call that the model requested. */
interface CallAnswer {
  readonly response: Record<string, unknown>;
  readonly media: readonly Part[];
  readonly status: CallStatus;
  readonly server?: string;
}

const stopped = "The user stopped the turn before this call had ended.";
const tooMany = "The call did not run: there are too many calls in this turn.";

/** The tool calls in one answer of the model. */
export class Round {
  readonly state: ConversationState;
  readonly host: RunningHost;
  readonly signal: AbortSignal;
  readonly #calls: readonly FunctionCall[];
  readonly #most: number;
  readonly #options: Pick<SendOptions, "confirm" | "onCall">;
  readonly #events = new EventQueue();
  readonly #responses: (CallResponse | undefined)[];
  #denied = 0;
  #isOver = false;
  /** Resolves when the last question so far is answered: the user is asked one question at a time. */
  #asked: Promise<unknown> = Promise.resolve();

  /** @param most How many of these calls may run: the turn's limit minus its earlier calls. */
  constructor(
    calls: readonly FunctionCall[],
    most: number,
    state: ConversationState,
    host: RunningHost,
    signal: AbortSignal,
    options: Pick<SendOptions, "confirm" | "onCall">,
  ) {
    this.#calls = calls;
    this.#most = most;
    this.#options = options;
    this.state = state;
    this.host = host;
    this.signal = signal;
    this.#responses = calls.map(() => undefined);
  }

  /** How many of the calls were denied. */
  get denied(): number {
    return this.#denied;
  }

  /** Runs the calls. Ends when all calls have ended or the turn is stopped. */
  async *run(): AsyncGenerator<TurnEvent, void, undefined> {
    const { state, signal } = this;
    const running = this.#calls.map(async ({ id, name = "", args = {} }, at) => {
      const request = { id: uniqueId(id, state), name, args: args as JsonObject };
      if (at >= this.#most) return this.#answer(at, this.#refuse(request));
      const stop = new AbortController();
      const stopCall = (): void => stop.abort();
      state.stopCalls.add(stopCall);
      const callSignal = AbortSignal.any([signal, stop.signal]);
      this.#options.onCall?.(request.id, callSignal);
      this.#answer(at, await new TurnCall(request, this, callSignal).run());
      state.stopCalls.delete(stopCall);
    });
    void Promise.all(running).then(() => this.#events.end());
    yield* this.#events;
  }

  /** Returns the responses to all calls, for the model. If a call has not ended, it counts as stopped. */
  end(): readonly Content[] {
    for (const [at, given] of this.#responses.entries())
      if (given === undefined) this.#answer(at, { response: { error: stopped }, media: [], status: "cancelled" });
    this.#isOver = true;
    return responseContents(this.#calls, this.#responses);
  }

  emit(event: TurnEvent): void {
    this.#events.push(event);
  }

  /**
   * Asks the user for confirmation, if a rule requires it. `question` is called a second time just before the user is
   * asked, because the answer to an earlier question may already allow the call. If the host has no `confirm`, emits a
   * `confirmation` event.
   *
   * @throws HostError `denied` if the user declines
   */
  async ask(question: Question, { id, canEdit, onConfirmation }: ConfirmedCall, until?: AbortSignal): Promise<void> {
    const { host } = this;
    const signal = until === undefined ? this.signal : AbortSignal.any([this.signal, until]);
    if ((await untilAborted(question(), signal)) === false) return;
    const asked = this.#asked.then(async () => {
      signal.throwIfAborted();
      const confirmation = await question();
      if (confirmation === false) return;
      // The call runs on while its server waits for a host.
      const isForCall = confirmation.kind !== "host";
      const details = canEdit && isForCall ? { ...confirmation, canEdit } : confirmation;
      if (isForCall) onConfirmation(details);
      const { confirm = host.options.confirm } = this.#options;
      const answering = confirm ? confirm(details, signal, id) : this.#tell(id, confirmation);
      const answer = await untilAborted(answering, signal);
      // If the answer cannot be saved, it is still valid for this turn.
      await applyAnswer(details, answer, (error) =>
        this.emit({ type: "note", message: `the approval could not be saved: ${errorMessage(error)}` }),
      );
    });
    this.#asked = asked.catch(() => undefined);
    await untilAborted(asked, signal);
  }

  /** Emits the question and waits for its answer. An answer after the end of the turn is ignored. */
  #tell(id: string, details: ToolCallConfirmationDetails): Promise<ToolConfirmationOutcome> {
    return new Promise((resolve) => {
      const onConfirm = async (outcome: ToolConfirmationOutcome): Promise<void> => resolve(outcome);
      this.emit({ type: "confirmation", id, details: { ...details, onConfirm } });
    });
  }

  #answer(at: number, { response, media, status, server }: CallAnswer): void {
    // Ignores the result of a call that ends after the turn: the model already got the response that it was stopped.
    if (this.#isOver) return;
    const isInside = ({ inlineData }: Part): boolean => isAcceptedInResponse(inlineData?.mimeType ?? "");
    const part = toResponse(this.#calls[at] ?? {}, response, media.filter(isInside));
    const beside = media.filter((each) => !isInside(each));
    this.#responses[at] = { part, beside };
    if (status === "denied") this.#denied += 1;
    this.state.record({ type: "response", index: at, part, server, beside: beside.length > 0 ? beside : undefined });
  }

  #refuse(request: ModelCallRequest): CallAnswer {
    this.emit({
      type: "call",
      ...request,
      status: "error",
      error: { code: "busy", message: "too many calls in one turn" },
    });
    return { response: { error: tooMany }, media: [], status: "error" };
  }
}

type Question = Parameters<ConfirmPort>[0];

interface ConfirmedCall {
  /** The id of the call to confirm. */
  readonly id: string;
  /** Whether the user may change the arguments. */
  readonly canEdit: boolean;
  /** Called when the question is shown. */
  readonly onConfirmation: (details: ToolCallConfirmationDetails) => void;
}

/** Returns the API's id, or a new id if there is none or another call of the conversation already has it. */
function uniqueId(given: string | undefined, { callIds }: ConversationState): string {
  let id = given ?? "";
  for (let count = callIds.size + 1; id === "" || callIds.has(id); count += 1) id = `call-${count}`;
  callIds.add(id);
  return id;
}

/** A call as the model requests it. `name` is the tool's name for the model. */
type ModelCallRequest = Pick<CallEvent, "id" | "name" | "args">;

/**
 * One tool call that the model requests: finds the tool, asks for confirmation, executes the call, and reports the
 * result to the model and the user.
 */
export class TurnCall {
  readonly state: ConversationState;
  readonly host: RunningHost;
  readonly signal: AbortSignal;
  readonly #request: ModelCallRequest;
  readonly #round: Round;
  #event: CallEvent;
  /** When the call was allowed. */
  #began: number | undefined;
  /** The arguments that the user has written instead of the model's. */
  #edited: JsonObject | undefined;
  #tool: RegisteredTool | undefined;

  constructor(request: ModelCallRequest, round: Round, signal: AbortSignal) {
    this.state = round.state;
    this.host = round.host;
    this.signal = signal;
    this.#request = request;
    this.#round = round;
    this.#event = { type: "call", ...request, status: "requested" };
  }

  /** Runs the call. Never rejects: if the call fails, the response describes the failure. */
  async run(): Promise<CallAnswer> {
    const { signal } = this;
    try {
      const execution = await this.#execute();
      for (const warning of execution.warnings ?? [])
        this.#round.emit({ type: "note", message: `${this.#event.name}: ${warning}` });
      this.#tell({ ...outcomeOf(execution), durationMs: this.#durationMs() });
      const text = execution.llmContent.flatMap((part) => part.text ?? []).join("\n");
      const media = execution.llmContent.filter(({ inlineData }) => inlineData !== undefined);
      return this.#answer(execution.error === undefined ? "output" : "error", text, media);
    } catch (error) {
      if (signal.aborted) {
        const wasSent = this.#event.status === "running";
        this.#tell({ status: "cancelled", durationMs: this.#durationMs() });
        return this.#answer("error", stoppedText(wasSent));
      }
      const failure = toHostError(error);
      this.#tell({ status: statusOf(failure), error: toCallFailure(failure), durationMs: this.#durationMs() });
      return this.#answer(
        "error",
        failure.code === "tool_unknown" ? failure.message : tellFailure(failure, this.#tool),
      );
    }
  }

  async #execute(): Promise<ToolExecution> {
    const { state, signal } = this;
    await state.toolSelection.prepare(state.model);
    const { name, args, found } = findCalled(this.#request, state);
    if (found.kind === "tool") this.#tool = found.tool;
    const { serverName: server, serverToolName } = this.#tool ?? {};
    this.#tell({ name, args, server, serverToolName });
    signal.throwIfAborted();
    if (found.kind === "none") {
      await this.#refuseUnlisted(name, args);
      throw new HostError("tool_unknown", explainUnknown(name, found.why, state.toolSelection.names(state.model)));
    }
    return untilAborted(
      found.kind === "tool" ? this.#runTool(found.tool, args) : runOwnFunction(found.own, args, this),
      signal,
    );
  }

  /**
   * Refuses a call of `server.tool` that a rule denies by name, although the server's tools are not known: it was not
   * started for this call.
   */
  async #refuseUnlisted(name: string, args: JsonObject): Promise<void> {
    const { servers, rules } = this.host;
    for (const { name: serverName, catalog } of servers.all()) {
      if (catalog !== undefined || !name.startsWith(`${serverName}.`)) continue;
      const serverToolName = name.slice(serverName.length + 1);
      const request = { who: "model", serverName, serverToolName, args } as const;
      const decisions = await rules();
      // A call that only lacks a terminal to ask on may have a mistake in its name.
      if (!decisions.isDeniedByName(request) || decisions.decide(request).rule.origin.source === "built_in") continue;
      this.#tell({ server: serverName, serverToolName });
      const shown = { serverName, serverToolName, name, description: "" };
      // Refused before it is sent; the refusal is recorded.
      await runRequest({ ...request, shown, target: { kind: "direct", send: async () => undefined } }, this.host);
    }
  }

  async #runTool(tool: RegisteredTool, args: JsonObject): Promise<ToolExecution> {
    const watch: CallWatch = {
      confirm: (question, until) => this.ask(question, true, until),
      onEdited: (edited) => {
        this.#edited = edited;
        this.#tell({ args: edited, status: "requested" });
      },
      onAllowed: (rule) => this.#allowed(rule),
      onStart: () => this.#tell({ status: "running" }),
      onProgress: ({ progress, total, message }: Progress) =>
        this.#round.emit({ type: "progress", id: this.#event.id, progress, total, message }),
      results: this.largeResults(tool.serverName),
    };
    return callForModel(tool, tool.toServerArguments(args), this.signal, watch, this.host);
  }

  /** Reports that a call of one of Fairlead's own functions is allowed and runs. */
  begin(rule?: string): void {
    this.#allowed(rule);
    this.#tell({ status: "running" });
  }

  /** Names the server that the call goes to, for the next events. */
  goesTo(server: string): void {
    this.#event = { ...this.#event, server };
  }

  ask(question: Question, canEdit = false, until?: AbortSignal): Promise<void> {
    const onConfirmation: ConfirmedCall["onConfirmation"] = ({ rule }) =>
      this.#tell({ status: "asking", rule: rule?.text ?? this.#event.rule });
    return this.#round.ask(question, { id: this.#event.id, canEdit, onConfirmation }, until);
  }

  /** The limit, in tokens, above which results are stored in files. Calls that the user types have no limit. */
  largeResults(server?: string): LargeResults {
    const { results, model } = this.state;
    const { resultTokens } = this.host.servers.configuration.settings.host;
    const tokens = model.provider === "manual" ? Number.POSITIVE_INFINITY : resultTokens;
    return { tokens, keep: (file) => results.keep(file, server) };
  }

  #allowed(rule?: string): void {
    this.#began ??= this.host.clock.now();
    this.#tell({ status: "queued", rule: this.#event.rule ?? rule });
  }

  #tell(change: Partial<CallEvent>): void {
    this.#event = { ...this.#event, ...change };
    this.#round.emit(this.#event);
  }

  #durationMs(): number | undefined {
    return this.#began === undefined ? undefined : Math.round(this.host.clock.now() - this.#began);
  }

  /** `kind`: whether the text is the result or an error. If the user changed the arguments, the model is told so. */
  #answer(kind: "output" | "error", text: string, media: readonly Part[] = []): CallAnswer {
    const response = { [kind]: this.#edited === undefined ? text : `${editedText(this.#edited)}\n${text}` };
    return { response, media, status: this.#event.status, server: this.#event.server };
  }
}

/** Finds the tool to call. For `call_tool`, this is the tool that the arguments name. */
function findCalled(
  { name, args }: ModelCallRequest,
  { toolSelection, model }: ConversationState,
): { readonly name: string; readonly args: JsonObject; readonly found: Found } {
  const found = toolSelection.find(name, model);
  if (found.kind !== "own" || found.own !== "call_tool") return { name, args, found };
  const inner = innerCall(args);
  return { ...inner, found: toolSelection.find(inner.name, model) };
}

const longestDisplay = 20_000;

function shortDisplay(display: string): string {
  return display.length <= longestDisplay ? display : shorten(display, longestDisplay);
}

/** Returns the fields that a call's last event adds: the status, and the result for the user. */
function outcomeOf({
  returnDisplay,
  plainDisplay = returnDisplay,
  error,
  files,
  llmContent,
}: ToolExecution): Partial<CallEvent> {
  const media = llmContent.flatMap(({ inlineData }) => {
    const { mimeType, data } = inlineData ?? {};
    return mimeType === undefined || data === undefined ? [] : [{ mimeType, data }];
  });
  return {
    status: error === undefined ? "ok" : "error",
    display: files === undefined ? plainDisplay : shortDisplay(plainDisplay),
    error: error && toCallFailure(error),
    files,
    media: media.length > 0 ? media : undefined,
  };
}

function editedText(args: JsonObject): string {
  return `The user changed the arguments of this call to ${JSON.stringify(args)}.`;
}

function stoppedText(wasSent: boolean): string {
  return wasSent
    ? "The user stopped the call while it ran: it may or may not have had its effect."
    : "The user stopped the call before it ran.";
}

/** A queue between running calls, which add events, and one reader. */
export class EventQueue implements AsyncIterable<TurnEvent> {
  readonly #waiting: TurnEvent[] = [];
  #isOver = false;
  #wake = (): void => {};

  push(event: TurnEvent): void {
    /*
     * A server may report progress faster than the caller reads events, so the queue keeps only the latest progress of
     * a call.
     */
    const last = this.#waiting.at(-1);
    if (event.type === "progress" && last?.type === "progress" && last.id === event.id) this.#waiting.pop();
    this.#waiting.push(event);
    this.#wake();
  }

  /** Ends the queue. Events that are already in it are still delivered. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TurnEvent, void, undefined> {
    for (;;) {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) yield next;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
