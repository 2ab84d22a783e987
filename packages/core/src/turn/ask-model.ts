/** One request to the model, until there is an answer: a tool that its API refuses is found and taken out, and it is asked again. */

import { HostError } from "../errors.ts";
import type { FinishReason, Model, ModelEvent } from "../model/model.ts";
import type { Content, FunctionDeclaration } from "../normalise/model-types.ts";
import type { DiscoveredMCPTool } from "../registry/discovered-tool.ts";
import type { ToolOffer } from "./conversation-tools.ts";
import type { TurnEvent } from "./events.ts";
import { type Culprit, createProbe, findCulprit, type Probe } from "./find-culprit.ts";
import type { ConversationState } from "./state.ts";
import { createSystemText } from "./system-text.ts";
import type { TurnHost } from "./turn-host.ts";
import { streamUntilAborted } from "./until-aborted.ts";

export interface Answer {
  readonly reason: FinishReason;
  readonly message?: string;
  readonly content: Content;
}

/** What the model has said so far, should the answer never be whole. */
export interface Draft {
  text: string;
}

type Rejection = Extract<ModelEvent, { type: "rejected" }>;
type Events<T = void> = AsyncGenerator<TurnEvent, T, undefined>;

export async function* askModel(
  state: ConversationState,
  host: TurnHost,
  draft: Draft,
  signal: AbortSignal,
): Events<Answer> {
  for (;;) {
    const { model } = state;
    const offer = state.toolbox.offer(model);
    yield* tellCuts(state, host);
    yield* tellLeftOut(offer, state);
    const came = yield* request(offer, model, { state, host, draft, signal });
    if (came.type === "finish") {
      for (const declaration of offer.declarations) provenFor(model, state).add(declaration.parametersJsonSchema);
      return came;
    }
    yield* takeOut(came, offer, state, signal);
  }
}

interface Asking {
  readonly state: ConversationState;
  readonly host: TurnHost;
  readonly draft: Draft;
  readonly signal: AbortSignal;
}

async function* request(
  { declarations }: ToolOffer,
  model: Model,
  { state, host, draft, signal }: Asking,
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
        // They stand in the content of the finish, with whatever belongs to them.
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
  throw new HostError("model", `${model.name} broke off without an end`, { next: "Try again." });
}

function instructionsOf({ toolbox }: ConversationState, host: TurnHost) {
  return toolbox.servers().flatMap((server) => {
    const instructions = host.known(server)?.instructions;
    return instructions === undefined ? [] : [{ server, instructions }];
  });
}

/** Told once for each server of which not even the registry takes everything. */
function* tellCuts({ toolbox, told }: ConversationState, host: TurnHost): Generator<TurnEvent, void, undefined> {
  const leftOut = host.leftOut();
  for (const name of leftOut.length === 0 ? [] : toolbox.servers()) {
    const [first, ...others] = leftOut.filter(({ server }) => server === name);
    if (first === undefined || told.has(name)) continue;
    told.add(name);
    const what = others.length === 0 ? "1 tool" : `${others.length + 1} tools`;
    yield { type: "note", message: `${what} of "${name}" left out: ${first.reason}` };
  }
}

/** Told once for each that there is no room for. */
function* tellLeftOut(
  { leftOut, tools }: ToolOffer,
  { told }: ConversationState,
): Generator<TurnEvent, void, undefined> {
  const news = leftOut.filter(({ serverName, serverToolName }) => {
    const name = `${serverName}.${serverToolName}`;
    return !told.has(name) && told.add(name);
  });
  if (news.length === 0) return;
  const names = news.slice(0, 5).map(({ serverName, serverToolName }) => `${serverName}.${serverToolName}`);
  const more = news.length > names.length ? ` and ${news.length - names.length} more` : "";
  const message = `the model is offered the first ${tools.length} tools; left out: ${names.join(", ")}${more}. includeTools, excludeTools and the servers of the conversation choose which.`;
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
  // An API may repeat what a schema says, and that may name the tool of another: whoever passes alone is not to blame.
  const isGuilty = declaration !== undefined && accused.length > 0 && !(await probe(accused));
  const culprit: Culprit = isGuilty
    ? { kind: "declaration", index: declaration }
    : yield* look(declarations, message, state, probe);
  const refused = refusedBy(culprit, tools);
  if (refused.length === 0) throw new HostError("model", `the model's API refuses the request: ${message}`);
  const reason = culprit.kind === "too_many" ? `with the others it is more than the API takes: ${message}` : message;
  for (const tool of refused) {
    state.toolbox.quarantine(tool, reason);
    const { serverName: server, serverToolName } = tool;
    yield { type: "quarantined", server, serverToolName, reason };
  }
}

function refusedBy(culprit: Culprit, tools: readonly DiscoveredMCPTool[]): readonly DiscoveredMCPTool[] {
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
    message: `the model's API refuses the request, perhaps for one of ${declarations.length} tools, and does not say which (${message}): looking for it`,
  };
  const proven = provenFor(state.model, state);
  return findCulprit(declarations, probe, ({ parametersJsonSchema }) => proven.has(parametersJsonSchema));
}

/** Remembers what has passed. */
function createNotingProbe(state: ConversationState, signal: AbortSignal): Probe {
  const proven = provenFor(state.model, state);
  const probe = createProbe(state.model, signal);
  return async (some) => {
    const passes = await probe(some);
    if (passes) for (const { parametersJsonSchema } of some) proven.add(parametersJsonSchema);
    return passes;
  };
}

/** What one model's API takes, another's may refuse. */
function provenFor(model: Model, { proven }: ConversationState): WeakSet<object> {
  const known = proven.get(model) ?? new WeakSet();
  proven.set(model, known);
  return known;
}
