/**
 * Runs one tool call that the model requests: finds the tool, asks for confirmation, executes the call, and reports the
 * result to the model and the user.
 */

import type { JsonObject, Progress } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { shorten } from "../normalise/content/shorten.ts";
import type { Part } from "../normalise/model-types.ts";
import type { LargeResults, ToolExecution } from "../registry/binding.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import type { ConfirmCall } from "./confirm.ts";
import type { CallEvent, CallStatus, TurnEvent } from "./events.ts";
import { explainUnknown, statusOf, tellFailure, toCallFailure, toHostError } from "./failure-messages.ts";
import { callResources } from "./resource-calls.ts";
import type { ConversationState } from "./state.ts";
import type { Found } from "./tools/conversation-tools.ts";
import type { OwnFunction } from "./tools/own-functions.ts";
import { innerCall } from "./tools/search-calls.ts";
import type { TurnHost, TurnQuestion } from "./turn-host.ts";
import { untilAborted } from "./until-aborted.ts";

/** A call as the model requests it. `name` is the tool's name for the model. */
export interface ModelCallRequest {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** The response to one tool call that the model requested. */
export interface CallAnswer {
  readonly response: Record<string, unknown>;
  readonly media: readonly Part[];
  readonly status: CallStatus;
  readonly server?: string;
}

/** What a call needs: its conversation and host, the confirmation, and where events go. */
export interface CallDeps {
  readonly state: ConversationState;
  readonly host: TurnHost;
  readonly ask: ConfirmCall;
  readonly emit: (event: TurnEvent) => void;
  readonly signal: AbortSignal;
}

/** Runs a tool call. Never rejects: if the call fails, the response describes the failure. */
export async function runCall(request: ModelCallRequest, deps: CallDeps): Promise<CallAnswer> {
  const { state, host, emit, signal } = deps;
  const { id } = request;
  let event: CallEvent = { type: "call", id, name: request.name, args: request.args, status: "requested" };
  let began: number | undefined;
  let called: RegisteredTool | undefined;
  let edited: JsonObject | undefined;

  function tell(change: Partial<CallEvent>): void {
    event = { ...event, ...change };
    emit(event);
  }

  const course: Course = {
    ask: (question, canEdit = false) =>
      deps.ask(question, {
        id,
        emit,
        canEdit,
        onConfirmation: ({ rule }) => tell({ status: "asking", rule: rule?.text ?? event.rule }),
      }),
    edited(args) {
      edited = args;
      tell({ args, status: "requested" });
    },
    allowed(rule) {
      began ??= host.clock.now();
      tell({ status: "queued", rule: event.rule ?? rule });
    },
    goesTo: (server) => {
      event = { ...event, server };
    },
    started: () => tell({ status: "running" }),
    progress: (progress) => emit({ type: "progress", id, ...toPlainProgress(progress) }),
  };

  function durationMs(): Pick<CallEvent, "durationMs"> {
    return began === undefined ? {} : { durationMs: Math.round(host.clock.now() - began) };
  }

  /** `kind`: whether the text is the result or an error. If the user changed the arguments, the model is told so. */
  function ended(kind: "output" | "error", text: string, media: readonly Part[] = []): CallAnswer {
    const response = { [kind]: edited === undefined ? text : `${editedText(edited)}\n${text}` };
    return { response, media, status: event.status, server: event.server };
  }

  try {
    await state.toolSelection.prepare(state.model);
    const { name, args, found } = findCalled(request, state);
    event = { ...event, name, args };
    if (found.kind === "tool") {
      called = found.tool;
      const { serverName: server, serverToolName } = called;
      event = { ...event, server, serverToolName };
    }
    tell({});
    signal.throwIfAborted();
    if (found.kind === "none")
      throw new HostError("tool_unknown", explainUnknown(name, found.why, state.toolSelection.names(state.model)));
    const running =
      found.kind === "tool" ? runTool(found.tool, args, course, deps) : runOwn(found.own, args, course, deps);
    const execution = await untilAborted(running, signal);
    for (const warning of execution.warnings ?? []) emit({ type: "note", message: `${name}: ${warning}` });
    tell({ ...outcomeOf(execution), ...durationMs() });
    const text = execution.llmContent.flatMap((part) => part.text ?? []).join("\n");
    const media = execution.llmContent.filter(({ inlineData }) => inlineData !== undefined);
    return ended(execution.error === undefined ? "output" : "error", text, media);
  } catch (error) {
    if (signal.aborted) {
      const wasSent = event.status === "running";
      tell({ status: "cancelled", ...durationMs() });
      return ended("error", stoppedText(wasSent));
    }
    const failure = toHostError(error);
    tell({ status: statusOf(failure), error: toCallFailure(failure), ...durationMs() });
    return ended("error", failure.code === "tool_unknown" ? failure.message : tellFailure(failure, called));
  }
}

interface Course {
  readonly ask: (question: TurnQuestion, canEdit?: boolean) => Promise<void>;
  /** Called when the user has changed the arguments. */
  readonly edited: (args: JsonObject) => void;
  readonly allowed: (rule?: string) => void;
  readonly goesTo: (server: string) => void;
  readonly started: () => void;
  readonly progress: (progress: Progress) => void;
}

function runTool(
  tool: RegisteredTool,
  args: JsonObject,
  { ask, edited, allowed, started, progress }: Course,
  { state, host, signal }: CallDeps,
): Promise<ToolExecution> {
  return tool.execute(args, signal, {
    confirm: (question) => ask(question, true),
    onEdited: edited,
    onAllowed: allowed,
    onStart: started,
    onProgress: progress,
    results: largeResults(state, host, tool.serverName),
  });
}

/** Returns the limit, in tokens, above which results are stored in files. Calls that the user types have no limit. */
function largeResults({ results, model }: ConversationState, host: TurnHost, server?: string): LargeResults {
  const tokens = model.provider === "manual" ? Number.POSITIVE_INFINITY : host.resultTokens();
  return { tokens, keep: (file) => results.keep(file, server) };
}

/** Runs one of Fairlead's own functions, such as `search_tools`. */
async function runOwn(
  own: OwnFunction,
  args: JsonObject,
  { ask, allowed, goesTo, started }: Course,
  { state, host, signal }: CallDeps,
): Promise<ToolExecution> {
  const begin = (rule?: string): void => {
    allowed(rule);
    started();
  };
  switch (own) {
    case "list_resources":
    case "read_resource": {
      if (own === "list_resources") begin();
      const servers = state.toolSelection.servers();
      const results = (server: string): LargeResults => largeResults(state, host, server);
      return callResources(
        { which: own, args, servers, results, signal, onServer: goesTo, ask, onAllowed: begin },
        host,
      );
    }
    case "search_tools": {
      begin();
      const { searchTools } = await import("./tools/search-calls.ts");
      return searchTools(args, state, host);
    }
    case "read_result": {
      begin();
      const { readResult } = await import("../results/read-result.ts");
      const { results } = state;
      return readResult(args, { results, tokens: host.resultTokens(), onServer: goesTo, clock: host.clock, signal });
    }
    case "call_tool":
      throw new HostError("arguments_invalid", "call_tool can call tools of servers only");
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

function toPlainProgress({ progress, total, message }: Progress): Progress {
  return { progress, total, message };
}
