/** Converts the events of Anthropic's Messages API to model events. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseJson, textIn } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import type { Part } from "../../normalise/model-types.ts";
import type { FinishReason, ModelEvent } from "../model.ts";
import type { NameMap } from "../tool-names.ts";
import { toThought } from "./anthropic-messages.ts";

/** Collects one streamed answer, event by event. */
export interface AnthropicAnswer {
  /** Reads an event of the API and returns the model's events. Ignores events and blocks of unknown types. */
  take(event: JsonObject): readonly ModelEvent[];
  /** Returns the last events; undefined if the answer is incomplete. */
  end(): readonly ModelEvent[] | undefined;
}

/** A content block that is being received. `text`: its text, thought, or the JSON text of its arguments. */
interface Draft {
  readonly type: string;
  readonly id: string | undefined;
  readonly name: string;
  /** The arguments of a call, if the endpoint sends them at once. */
  readonly input: JsonObject;
  /** The encrypted form of a thought. */
  encrypted: string;
  text: string;
}

/** Starts an empty answer of this model, for one request. */
export function createAnthropicAnswer({ toOurs }: NameMap, model: string): AnthropicAnswer {
  const drafts = new Map<unknown, Draft>();
  const counts = new Map<string, number>();
  let reason: string | undefined;

  function add(draft: Draft, delta: JsonObject): ModelEvent[] {
    const text = textIn(delta, "text") ?? textIn(delta, "thinking") ?? textIn(delta, "partial_json") ?? "";
    draft.encrypted += textIn(delta, "signature") ?? "";
    draft.text += text;
    if (text === "" || (draft.type !== "text" && draft.type !== "thinking")) return [];
    return [{ type: draft.type === "text" ? "text" : "thought", text }];
  }

  return {
    take(event) {
      for (const usage of [event["usage"], isObject(event["message"]) ? event["message"]["usage"] : undefined])
        if (isObject(usage))
          for (const [name, count] of Object.entries(usage)) if (typeof count === "number") counts.set(name, count);
      switch (event["type"]) {
        case "content_block_start": {
          const block = isObject(event["content_block"]) ? event["content_block"] : {};
          const draft: Draft = {
            type: textIn(block, "type") ?? "",
            id: textIn(block, "id"),
            name: textIn(block, "name") ?? "",
            input: isObject(block["input"]) ? block["input"] : {},
            encrypted: textIn(block, "data") ?? "",
            text: "",
          };
          drafts.set(event["index"], draft);
          return add(draft, block);
        }
        case "content_block_delta": {
          const draft = drafts.get(event["index"]);
          return draft !== undefined && isObject(event["delta"]) ? add(draft, event["delta"]) : [];
        }
        case "message_delta":
          reason = (isObject(event["delta"]) ? textIn(event["delta"], "stop_reason") : undefined) ?? reason;
      }
      return [];
    },
    end() {
      if (reason === undefined) return undefined;
      const read = [...drafts.values()].map((draft) => toPart(draft, model, toOurs));
      const mistake = read.find((each) => typeof each === "string");
      const finish = toFinish(reason, mistake);
      const isUsable = finish.reason !== "safety" && finish.reason !== "malformed_call";
      const parts = read.flatMap((each): Part[] =>
        typeof each !== "object" || (each.functionCall !== undefined && !isUsable) ? [] : [each],
      );
      return [
        ...parts.flatMap(({ functionCall }): ModelEvent[] =>
          functionCall === undefined ? [] : [{ type: "call", call: { name: "", args: {}, ...functionCall } }],
        ),
        ...toUsage(counts),
        { type: "finish", ...finish, content: { role: "model", parts } },
      ];
    },
  };
}

/** The part of the history for a block. A string describes the mistake in a call. Undefined for an unknown block. */
function toPart(
  { type, id, name, input, encrypted, text }: Draft,
  model: string,
  toOurs: NameMap["toOurs"],
): Part | string | undefined {
  switch (type) {
    case "text":
      return text === "" ? undefined : { text };
    case "thinking":
      return encrypted === ""
        ? { text, thought: true }
        : toThought({ type, thinking: text, signature: encrypted }, model);
    case "redacted_thinking":
      return toThought({ type, data: encrypted }, model);
    case "tool_use": {
      if (name === "") return "a call without a name";
      const args = text.trim() === "" ? input : parseJson(text);
      if (!isObject(args)) return `the arguments of ${name} are not a JSON object: ${clip(text, 200)}`;
      return { functionCall: { id, name: toOurs(name), args } };
    }
    default:
      return undefined;
  }
}

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["tool_use", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "safety"],
]);

function toFinish(given: string, mistake: string | undefined): { reason: FinishReason; message?: string } {
  const reason = reasons.get(given) ?? "other";
  if (mistake !== undefined && reason !== "length" && reason !== "safety")
    return { reason: "malformed_call", message: mistake };
  return reason === "stop" ? { reason } : { reason, message: `the answer ended early (${given})` };
}

/** The number of used tokens. The API counts tokens from and for the cache apart from `input_tokens`. */
function toUsage(counts: ReadonlyMap<string, number>): ModelEvent[] {
  if (counts.size === 0) return [];
  const count = (name: string): number => counts.get(name) ?? 0;
  const cachedTokens = count("cache_read_input_tokens");
  const inputTokens = count("input_tokens") + cachedTokens + count("cache_creation_input_tokens");
  return [{ type: "usage", inputTokens, outputTokens: count("output_tokens"), cachedTokens }];
}
