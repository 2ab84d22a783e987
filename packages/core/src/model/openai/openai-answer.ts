/** Converts the events of an OpenAI-compatible endpoint to model events. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseJson, textIn } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import type { Content, Part } from "../../normalise/model-types.ts";
import type { FinishReason, ModelCall, ModelEvent } from "../model.ts";
import type { NameMap } from "../tool-names.ts";

/** Collects one streamed answer, chunk by chunk. */
export interface OpenaiAnswer {
  /** Reads a chunk of the answer and returns its events. */
  take(chunk: JsonObject): readonly ModelEvent[];
  /**
   * Returns the last events; undefined if the answer is incomplete. `saysDone`: whether the stream ended with `[DONE]`.
   */
  end(saysDone: boolean): readonly ModelEvent[] | undefined;
}

type Finish = Omit<ModelEvent & { readonly type: "finish" }, "type" | "content">;

/** Starts an empty answer, for one request. */
export function createOpenaiAnswer({ toOurs }: NameMap): OpenaiAnswer {
  const assembly = createCallAssembly();
  const said = { text: "", thought: "" };
  let usage: ModelEvent[] = [];
  let reason: string | undefined;
  let hasChoice = false;

  function tell(type: "text" | "thought", text: string | undefined): ModelEvent[] {
    if (text === undefined) return [];
    said[type] += text;
    return [{ type, text }];
  }

  return {
    take(chunk) {
      usage = toUsage(chunk["usage"]) ?? usage;
      const choices: unknown = chunk["choices"];
      const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
      if (!isObject(choice)) return [];
      hasChoice = true;
      reason = textIn(choice, "finish_reason") ?? reason;
      // An endpoint that does not stream sends the whole message.
      const delta = [choice["delta"], choice["message"]].find(isObject) ?? {};
      assembly.add(delta["tool_calls"]);
      const refusal = textIn(delta, "refusal");
      if (refusal !== undefined) reason = "content_filter";
      return [
        ...tell("thought", textIn(delta, "reasoning_content") ?? textIn(delta, "reasoning")),
        ...tell("text", textIn(delta, "content")),
        ...tell("text", refusal),
      ];
    },
    end(saysDone) {
      if (reason === undefined && !(saysDone && hasChoice)) return undefined;
      const { calls, mistake } = assembly.end();
      const hasContent = said.text !== "" || calls.length > 0;
      const finish = toFinish(reason ?? "stop", mistake, hasContent);
      const isUsable = finish.reason !== "safety" && finish.reason !== "malformed_call";
      const ours = isUsable ? calls.map((call) => ({ ...call, name: toOurs(call.name) })) : [];
      return [
        ...ours.map((call): ModelEvent => ({ type: "call", call })),
        ...usage,
        { type: "finish", ...finish, content: toContent(said, ours) },
      ];
    },
  };
}

function toContent(said: { readonly text: string; readonly thought: string }, calls: readonly ModelCall[]): Content {
  const parts: Part[] = [];
  if (said.thought !== "") parts.push({ text: said.thought, thought: true });
  if (said.text !== "") parts.push({ text: said.text });
  return { role: "model", parts: [...parts, ...calls.map((call) => ({ functionCall: { ...call } }))] };
}

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["tool_calls", "stop"],
  ["length", "length"],
  ["content_filter", "safety"],
]);

/** Why the answer ended. If the endpoint gives an unknown reason, an answer with content counts as complete. */
function toFinish(given: string, mistake: string | undefined, hasContent: boolean): Finish {
  const reason = reasons.get(given) ?? (hasContent ? "stop" : "other");
  if (mistake !== undefined && reason !== "length" && reason !== "safety")
    return { reason: "malformed_call", message: mistake };
  return reason === "stop" ? { reason } : { reason, message: `the answer ended early (${given})` };
}

function toUsage(given: unknown): ModelEvent[] | undefined {
  if (!isObject(given)) return undefined;
  const count = (value: unknown): number => (typeof value === "number" ? value : 0);
  const details = given["prompt_tokens_details"];
  const cached = isObject(details) ? details["cached_tokens"] : undefined;
  return [
    {
      type: "usage",
      inputTokens: count(given["prompt_tokens"]),
      outputTokens: count(given["completion_tokens"]),
      cachedTokens: typeof cached === "number" ? cached : undefined,
    },
  ];
}

/** Assembles calls that arrive in pieces. Not every endpoint numbers the calls or gives them unique ids. Pure. */
interface CallAssembly {
  /** Adds the `tool_calls` of a delta or of a whole message. */
  add(pieces: unknown): void;
  /** Returns the assembled calls, with the tool names that the API sent. `mistake` describes the first invalid call. */
  end(): { readonly calls: readonly ModelCall[]; readonly mistake?: string };
}

interface Draft {
  readonly index: number | undefined;
  id: string | undefined;
  name: string;
  text: string;
  readonly hasArguments: boolean;
}

interface Piece {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string;
  readonly text: string;
  /** Whether this piece of a call contains arguments, even empty ones. */
  readonly hasArguments: boolean;
}

/** Starts an empty list of calls, for one answer. */
export function createCallAssembly(): CallAssembly {
  const drafts: Draft[] = [];

  function take(piece: Piece): void {
    const draft = drafts.findLast((earlier) => isSame(earlier, piece, earlier === drafts.at(-1)));
    if (draft === undefined || begins(draft, piece)) {
      drafts.push({ ...piece });
      return;
    }
    draft.id ??= piece.id;
    if (piece.name !== draft.name) draft.name += piece.name;
    draft.text += piece.text;
  }

  return {
    add(pieces) {
      if (Array.isArray(pieces)) for (const piece of pieces) if (isObject(piece)) take(readPiece(piece));
    },
    end() {
      const ids = new Set<string>();
      const calls: ModelCall[] = [];
      for (const { id, name, text } of drafts) {
        if (name === "") return { calls: [], mistake: "a call without a name" };
        const args = readArguments(text);
        if (args === undefined)
          return { calls: [], mistake: `the arguments of ${name} are not a JSON object: ${clip(text, 200)}` };
        // Some endpoints give every call the same id. Only the first such call keeps it.
        const isOwn = id !== undefined && !ids.has(id);
        if (isOwn) ids.add(id);
        calls.push({ id: isOwn ? id : undefined, name, args });
      }
      return { calls };
    },
  };
}

function readPiece(given: Record<string, unknown>): Piece {
  const called = isObject(given["function"]) ? given["function"] : {};
  const text = called["arguments"] ?? "";
  return {
    index: typeof given["index"] === "number" ? given["index"] : undefined,
    id: textIn(given, "id"),
    name: textIn(called, "name") ?? "",
    text: typeof text === "string" ? text : JSON.stringify(text),
    hasArguments: typeof called["arguments"] === "string",
  };
}

/**
 * Whether a piece may belong to this call. Compares the index, or the id if the piece has no index. A piece with
 * neither continues the last call.
 */
function isSame(draft: Draft, { index, id }: Piece, isLast: boolean): boolean {
  if (index !== undefined) return draft.index === index;
  return id === undefined ? isLast : draft.id === id;
}

/**
 * Whether a piece begins a new call. The index does not always show this: old versions of Ollama send 0 for every call.
 */
function begins(draft: Draft, { id, name, text, hasArguments }: Piece): boolean {
  if (id !== undefined && draft.id !== undefined && id !== draft.id) return true;
  if (name === "" || draft.name === "") return false;
  if (id !== undefined && id === draft.id && text === "") return false;
  if (draft.text === "") {
    const isWhole = id === undefined && draft.id === undefined && draft.hasArguments && hasArguments;
    return isWhole && (text === "" || name !== draft.name);
  }
  return name !== draft.name || readArguments(draft.text) !== undefined;
}

/** Parses the arguments. If a call has no parameters, its arguments may be empty or `null`. */
function readArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  const value = parseJson(text);
  return value === null ? {} : isObject(value) ? value : undefined;
}
