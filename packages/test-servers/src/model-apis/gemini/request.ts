/** The types of requests to the Gemini API, and how a model reads them. */

import type { Asked, CallResult } from "../script.ts";

export type Schema = Readonly<Record<string, unknown>>;

export interface Declaration {
  readonly name?: string;
  readonly description?: string;
  readonly parameters?: Schema;
  readonly parametersJsonSchema?: Schema;
}

export interface GeminiPart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly inlineData?: { readonly mimeType?: string; readonly data?: string };
  readonly functionCall?: { readonly id?: string; readonly name?: string; readonly args?: object };
  readonly functionResponse?: {
    readonly id?: string;
    readonly name?: string;
    readonly response?: Readonly<Record<string, unknown>>;
    readonly parts?: readonly GeminiPart[];
  };
}

export interface GeminiContent {
  readonly role?: string;
  readonly parts?: readonly GeminiPart[];
}

export interface GeminiBody {
  readonly contents?: readonly GeminiContent[];
  readonly systemInstruction?: GeminiContent;
  readonly tools?: readonly { readonly functionDeclarations?: readonly Declaration[] }[];
  readonly toolConfig?: Readonly<Record<string, unknown>>;
  readonly generationConfig?: Readonly<Record<string, unknown>>;
}

export function declarationsIn({ tools = [] }: GeminiBody): readonly Declaration[] {
  return tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
}

export function partsOf(content: GeminiContent | undefined): readonly GeminiPart[] {
  return content?.parts ?? [];
}

/** Returns the index of the person's last message. Everything after it belongs to one turn. */
export function turnStart(contents: readonly GeminiContent[]): number {
  return contents.findLastIndex(
    (content) =>
      content.role !== "model" &&
      partsOf(content).some(({ text }) => text !== undefined) &&
      partsOf(content).every((part) => !part.functionResponse),
  );
}

export function readAsked(model: string, body: GeminiBody): Asked {
  const { contents = [] } = body;
  const start = turnStart(contents);
  const rounds = contents
    .slice(start + 1)
    .map((content) => partsOf(content).flatMap(toResult))
    .filter((results) => results.length > 0);
  return {
    model,
    system: textOf(body.systemInstruction),
    tools: declarationsIn(body).map(({ name = "" }) => name),
    said: textOf(contents[start]),
    rounds,
  };
}

function textOf(content: GeminiContent | undefined): string {
  return partsOf(content)
    .flatMap(({ text }) => text ?? [])
    .join("\n");
}

function toResult({ functionResponse }: GeminiPart): CallResult[] {
  if (!functionResponse) return [];
  const { name = "", response = {}, parts = [] } = functionResponse;
  const result = response["output"] ?? response["error"] ?? response;
  return [{ name, result, media: parts.flatMap(({ inlineData }) => inlineData?.mimeType ?? []) }];
}
