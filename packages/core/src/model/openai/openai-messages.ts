/** Converts a conversation to messages of OpenAI's chat completions API. Pure. */

import type { Content, FunctionDeclaration, Part } from "../../normalise/model-types.ts";
import { writeJson } from "../../text/deep-json.ts";
import { mediaNote, responseText } from "../response-text.ts";
import type { NameMap } from "../tool-names.ts";

type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };

interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message of the chat completions API. */
export type OpenaiMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly ContentPart[] }
  | { readonly role: "assistant"; readonly content: string | null; readonly tool_calls?: readonly ToolCall[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** A tool of the chat completions API. */
export interface OpenaiTool {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: object };
}

/** Converts function declarations, with the tool names that the API accepts. */
export function toOpenaiTools(tools: readonly FunctionDeclaration[], { toApi }: NameMap): OpenaiTool[] {
  return tools.map(({ name, description, parametersJsonSchema }) => ({
    type: "function",
    function: { name: toApi(name), description, parameters: parametersJsonSchema },
  }));
}

interface OpenCall {
  readonly id: string;
  /** The id that the endpoint gave the call, if any. */
  readonly given: string | undefined;
  readonly name: string | undefined;
}

/** The system prompt, and whether the model accepts images. */
export interface MessageOptions {
  readonly system?: string | undefined;
  /** Whether the model accepts images. If false, a note replaces each image. */
  readonly takesImages: boolean;
}

/** Converts a conversation. The system prompt becomes the first message, unless it is empty. */
export function toOpenaiMessages(
  messages: readonly Content[],
  names: NameMap,
  { system = "", takesImages }: MessageOptions,
): OpenaiMessage[] {
  let open: readonly OpenCall[] = [];
  const written: OpenaiMessage[] = system === "" ? [] : [{ role: "system", content: system }];
  for (const [at, { role, parts }] of messages.entries()) {
    if (role === "model") {
      // A call without an id gets an id from its position. The position is the same in every request.
      open = callsIn(parts).map(({ id, name }, nth) => ({ id: id ?? `call_${at}_${nth}`, given: id, name }));
      written.push(...fromModel(parts, open, names));
    } else {
      const { results, rest } = fromUser(parts, open, takesImages);
      written.push(...results, ...rest);
    }
  }
  return written;
}

function callsIn(parts: readonly Part[]): NonNullable<Part["functionCall"]>[] {
  return parts.flatMap(({ functionCall }) => functionCall ?? []);
}

/** Leaves out thoughts, because endpoints reject or ignore them. */
function fromModel(parts: readonly Part[], open: readonly OpenCall[], { toApi }: NameMap): OpenaiMessage[] {
  const content = parts.flatMap(({ text, thought }) => (thought === true ? [] : (text ?? []))).join("");
  const tool_calls = callsIn(parts).map(
    ({ name = "", args = {} }, nth): ToolCall => ({
      id: open[nth]?.id ?? "",
      type: "function",
      function: { name: toApi(name), arguments: writeJson(args) },
    }),
  );
  if (tool_calls.length === 0) return content === "" ? [] : [{ role: "assistant", content }];
  return [{ role: "assistant", content: content === "" ? null : content, tool_calls }];
}

/**
 * The messages for tool results. Results must directly follow their calls, so their media goes into a user message
 * after the last result.
 */
function fromUser(
  parts: readonly Part[],
  calls: readonly OpenCall[],
  takesImages: boolean,
): { readonly results: readonly OpenaiMessage[]; readonly rest: readonly OpenaiMessage[] } {
  const open = [...calls];
  const results: OpenaiMessage[] = [];
  const others: ContentPart[] = [];
  for (const part of parts) {
    const { functionResponse } = part;
    if (functionResponse === undefined) others.push(...toContentParts(part, takesImages));
    else {
      const { id, name, response = {}, parts: media = [] } = functionResponse;
      const index = open.findIndex((call) => (id === undefined ? call.name === name : call.given === id));
      const [call] = open.splice(Math.max(index, 0), 1);
      results.push({ role: "tool", tool_call_id: call?.id ?? id ?? "", content: responseText(response) });
      others.push(...media.flatMap((each) => toContentParts(each, takesImages)));
    }
  }
  return { results, rest: others.length === 0 ? [] : [{ role: "user", content: simplest(others) }] };
}

/**
 * The content of a message. If all parts are text, the content is a string, because some endpoints accept only strings.
 */
function simplest(parts: readonly ContentPart[]): string | readonly ContentPart[] {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === parts.length ? texts.join("\n") : parts;
}

function toContentParts({ text, inlineData }: Part, takesImages: boolean): ContentPart[] {
  if (text !== undefined) return [{ type: "text", text }];
  if (inlineData === undefined) return [];
  const { mimeType = "", data = "" } = inlineData;
  if (takesImages && mimeType.startsWith("image/"))
    return [{ type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } }];
  return [{ type: "text", text: mediaNote(inlineData) }];
}

export function hasImages(messages: readonly OpenaiMessage[]): boolean {
  return messages.some(
    ({ role, content }) =>
      role === "user" && typeof content !== "string" && content.some(({ type }) => type === "image_url"),
  );
}
