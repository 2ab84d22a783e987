/**
 * Sends a request to the model. If the API refuses a tool, finds that tool, removes it from the conversation and sends
 * the request again.
 */

import { HostError } from "../errors.ts";
import type { FinishReason, Model, ModelEvent } from "../model/model.ts";
import type { Content, FunctionDeclaration } from "../normalise/model-types.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";

import type { TurnEvent } from "./events.ts";
import { type Culprit, createProbe, findCulprit, type Probe } from "./find-culprit.ts";
import type { ConversationState } from "./state.ts";
import { createSystemText } from "./system-text.ts";
import type { ToolOffer } from "./tools/tool-offer.ts";
import type { TurnHost } from "./turn-host.ts";
import { streamUntilAborted } from "./until-aborted.ts";

/** A complete answer of the model, and why the model stopped. */
export interface Answer {
  readonly reason: FinishReason;
  readonly message?: string;
  readonly content: Content;
}

/** The model's text so far. If the turn is stopped, Fairlead keeps this text in the history. */
export interface Draft {
  text: string;
}

type Rejection = Extract<ModelEvent, { type: "rejected" }>;
type Events<T = void> = AsyncGenerator<TurnEvent, T, undefined>;

/** Sends the request and yields the events of the answer. */
export async function* askModel(
  state: ConversationState,
  host: TurnHost,
  draft: Draft,
  signal: AbortSignal,
): Events<Answer> {
  for (;;) {
    const { model } = state;
    const toolOffer = await state.toolSelection.offerTools(model);
    yield* tellDeferred(toolOffer, state);
    const outcome = yield* request(toolOffer, model, { state, host, draft, signal });
    if (outcome.type === "finish") {
      for (const declaration of toolOffer.declarations) provenFor(model, state).add(declaration.parametersJsonSchema);
      return outcome;
    }
    yield* takeOut(outcome, toolOffer, state, signal);
  }
}

interface AskModelOptions {
  readonly state: ConversationState;
  readonly host: TurnHost;
  readonly draft: Draft;
  readonly signal: AbortSignal;
}

async function* request(
  { declarations }: ToolOffer,
  model: Model,
  { state, host, draft, signal }: AskModelOptions,
): Events<Rejection | Extract<ModelEvent, { type: "finish" }>> {
  state.systemText ??= createSystemText();
  const system = declarations.length === 0 ? {} : { system: state.systemText(instructionsOf(state, host)) };
  draft.text = "";
  for await (const event of streamUntilAborted(model.stream(state.history, declarations, signal, system), signal)) {
    switch (event.type) {
      case "rejected":
      case "finish":
        return event;
      case "call":
        // The content of the `finish` event contains the calls, so a `call` event is ignored.
        break;
      case "text":
        draft.text += event.text;
        yield event;
        break;
      case "thought":
      case "usage":
      case "retry":
        yield event;
    }
  }
  throw new HostError("model", `${model.name} did not complete its answer`, { next: "Try again." });
}

function instructionsOf({ toolSelection }: ConversationState, host: TurnHost) {
  return toolSelection.servers().flatMap((server) => {
    const instructions = host.catalogInfo(server)?.instructions;
    return instructions === undefined ? [] : [{ server, instructions }];
  });
}

/** Tells the user, once, that the model must search for some of the tools. */
function* tellDeferred(
  { deferred, tools }: ToolOffer,
  { told }: ConversationState,
): Generator<TurnEvent, void, undefined> {
  const key = "\u0000deferred";
  if (deferred === 0 || told.has(key)) return;
  told.add(key);
  const offered = tools.filter((tool) => tool !== undefined).length;
  const message = `the model gets ${offered} of ${offered + deferred} tools directly and can search for the others (fairlead.toolBudget)`;
  yield { type: "note", message };
}

async function* takeOut(
  { message, declaration }: Rejection,
  { declarations, tools }: ToolOffer,
  state: ConversationState,
  signal: AbortSignal,
): Events {
  const probe = createNotingProbe(state, signal);
  const accused = declaration === undefined ? [] : declarations.slice(declaration, declaration + 1);
  // Checks the named tool with a request of its own, because the API may name a tool that is not the cause.
  const isGuilty = declaration !== undefined && accused.length > 0 && !(await probe(accused));
  const culprit: Culprit = isGuilty
    ? { kind: "declaration", index: declaration }
    : yield* look(declarations, message, state, probe);
  const refused = refusedBy(culprit, tools);
  if (refused.length === 0) throw new HostError("model", `the model's API refuses the request: ${message}`);
  const reason =
    culprit.kind === "too_many"
      ? `this tool and the other tools together exceed what the API accepts: ${message}`
      : message;
  for (const tool of refused) {
    state.toolSelection.quarantine(tool, reason);
    const { serverName: server, serverToolName } = tool;
    yield { type: "quarantined", server, serverToolName, reason };
  }
}

function refusedBy(culprit: Culprit, tools: ToolOffer["tools"]): readonly RegisteredTool[] {
  return refusedSlots(culprit, tools).filter((tool) => tool !== undefined);
}

function refusedSlots(culprit: Culprit, tools: ToolOffer["tools"]): ToolOffer["tools"] {
  switch (culprit.kind) {
    case "declaration":
      return tools.slice(culprit.index, culprit.index + 1);
    case "too_many":
      return tools.slice(culprit.passing);
    case "none":
      return [];
  }
}

async function* look(
  declarations: readonly FunctionDeclaration[],
  message: string,
  state: ConversationState,
  probe: Probe,
): Events<Culprit> {
  yield {
    type: "note",
    message: `the model's API refuses the request and names no tool (${message}); Fairlead tests whether one of the ${declarations.length} tools is the cause`,
  };
  const proven = provenFor(state.model, state);
  return findCulprit(declarations, probe, ({ parametersJsonSchema }) => proven.has(parametersJsonSchema));
}

function createNotingProbe(state: ConversationState, signal: AbortSignal): Probe {
  const proven = provenFor(state.model, state);
  const probe = createProbe(state.model, signal);
  return async (some) => {
    const passes = await probe(some);
    if (passes) for (const { parametersJsonSchema } of some) proven.add(parametersJsonSchema);
    return passes;
  };
}

/** The schemas that this model's API has accepted. Another API may refuse them. */
function provenFor(model: Model, { proven }: ConversationState): WeakSet<object> {
  const schemas = proven.get(model) ?? new WeakSet();
  proven.set(model, schemas);
  return schemas;
}
