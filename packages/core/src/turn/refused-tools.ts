/** Removes the tools that a model's API refuses. If the error names none, finds them with few and small requests. */

import { HostError } from "../errors.ts";
import type { Model, ModelEvent } from "../model/model.ts";
import type { Content, FunctionDeclaration } from "../normalise/model-types.ts";
import type { ConversationState } from "./conversation.ts";
import type { TurnEvent } from "./events.ts";
import type { ToolOffer } from "./tools/tool-offer.ts";
import { streamUntilAborted } from "./until-aborted.ts";

/** Why the API refused a request with tool declarations. */
type Culprit =
  /** The API refuses the declaration with this index. */
  | { readonly kind: "declaration"; readonly index: number }
  /** The API accepts the first `passing` declarations, but refuses all declarations together. */
  | { readonly kind: "too_many"; readonly passing: number }
  /** The declarations are not the reason for the refusal. */
  | { readonly kind: "none" };

/** Sends a small request with these declarations. Resolves with true if the API accepts them. */
type Probe = (declarations: readonly FunctionDeclaration[]) => Promise<boolean>;

/**
 * Finds the declaration that the API refuses, by bisection: for n declarations, this takes about log2(n) requests.
 *
 * @param isProven Whether the API accepted this declaration before, so that it cannot be the cause.
 */
export async function findCulprit(
  declarations: readonly FunctionDeclaration[],
  probe: Probe,
  isProven: (declaration: FunctionDeclaration) => boolean = () => false,
): Promise<Culprit> {
  const allIndexes = declarations.map((_, index) => index);
  let suspects = allIndexes.filter((index) => declarations.slice(index, index + 1).every((each) => !isProven(each)));
  if (suspects.length === 0) suspects = allIndexes;
  const at = (indexes: readonly number[]): FunctionDeclaration[] =>
    indexes.flatMap((index) => declarations[index] ?? []);
  let wasRefused = false;
  let passing = 0;
  while (suspects.length > 1) {
    const half = suspects.slice(0, Math.ceil(suspects.length / 2));
    if (await probe(at(half))) {
      if (passing === 0) passing = (half.at(-1) ?? 0) + 1;
      suspects = suspects.slice(half.length);
    } else {
      wasRefused = true;
      suspects = half;
    }
  }
  const [index] = suspects;
  if (index === undefined) return { kind: "none" };
  if (wasRefused || !(await probe(at([index])))) return { kind: "declaration", index };
  if (await probe(declarations)) return { kind: "none" };
  return { kind: "too_many", passing: Math.min(Math.max(passing, 1), declarations.length - 1) };
}

const question: readonly Content[] = [{ role: "user", parts: [{ text: "." }] }];

/** Creates a probe for a model. Cancels the probe's request as soon as the answer begins. */
function createProbe(model: Model, signal: AbortSignal): Probe {
  return async (declarations) => {
    const stop = new AbortController();
    const hangUp = (): void => stop.abort();
    signal.addEventListener("abort", hangUp, { once: true });
    try {
      for await (const event of streamUntilAborted(model.stream(question, declarations, stop.signal), signal)) {
        if (event.type !== "retry") return event.type !== "rejected";
      }
      return true;
    } finally {
      signal.removeEventListener("abort", hangUp);
      hangUp();
    }
  };
}

type Rejection = Extract<ModelEvent, { type: "rejected" }>;
type Events<T = void> = AsyncGenerator<TurnEvent, T, undefined>;

/**
 * Finds the tools that made the API refuse a request, and removes them from the conversation.
 *
 * @throws HostError `model` if no tool is the cause
 */
export async function* removeRefused(
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
  const refused = refusedBy(culprit, tools).filter((tool) => tool !== undefined);
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

function refusedBy(culprit: Culprit, tools: ToolOffer["tools"]): ToolOffer["tools"] {
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
export function provenFor(model: Model, { proven }: ConversationState): WeakSet<object> {
  const schemas = proven.get(model) ?? new WeakSet();
  proven.set(model, schemas);
  return schemas;
}
