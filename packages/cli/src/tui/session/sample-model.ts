/** Runs a sampling request of a server on the user's model, without anything of the conversation. */

import { HostError } from "@fairlead/core/errors";
import type { Model } from "@fairlead/core/model/model";
import type { Content, Part } from "@fairlead/core/normalise/model-types";
import type { JsonObject } from "@fairlead/wire";
import { listOf, member } from "@fairlead/wire/json";
import type { SampledAnswer } from "../state/questions.ts";

export interface Sampled extends SampledAnswer {
  /** The answer was cut at `maxTokens`. */
  readonly isCut: boolean;
}

/** Average characters of a token: the model does not get the server's limit, so the answer is cut at it here. */
const charactersPerToken = 4;

export async function sampleModel(
  model: Model,
  serverName: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<Sampled> {
  if (model.provider === "manual") throw new HostError("model", "no model configured", { serverName, next: "/model" });
  const system = member(params, "systemPrompt");
  const most = member(params, "maxTokens");
  const room = typeof most === "number" && most > 0 ? most * charactersPerToken : Number.POSITIVE_INFINITY;
  const messages = listOf(member(params, "messages")).map(toContent);
  let text = "";
  let usage = {};
  let isCut = false;
  for await (const event of model.stream(messages, [], signal, typeof system === "string" ? { system } : {})) {
    if (event.type === "text") text += event.text;
    if (event.type === "usage") usage = { inputTokens: event.inputTokens, outputTokens: event.outputTokens };
    if (event.type === "rejected") throw new HostError("model", event.message, { serverName });
    if (event.type === "finish") isCut = event.reason === "length";
    if (text.length > room) return { ...usage, text: text.slice(0, room), isCut: true };
  }
  return { ...usage, text, isCut };
}

function toContent(message: unknown): Content {
  const role = member(message, "role") === "assistant" ? "model" : "user";
  return { role, parts: [member(message, "content")].flat().map(toPart) };
}

function toPart(block: unknown): Part {
  const [text, data, mimeType] = ["text", "data", "mimeType"].map((name) => member(block, name));
  if (typeof data === "string" && typeof mimeType === "string") return { inlineData: { mimeType, data } };
  return { text: typeof text === "string" ? text : JSON.stringify(block) };
}
