/**
 * Copies of the Gemini API types that Fairlead uses, so that Google's package is not needed. A test compares them with
 * Google's package.
 */

import type { JsonObject } from "@fairlead/wire";

/** A part of a message in the shape of the Gemini API. */
export interface Part {
  text?: string;
  inlineData?: { mimeType?: string; data?: string };
  functionCall?: FunctionCall;
  functionResponse?: FunctionResponse;
  /** True if the part is the model's reasoning and not an answer to the user. */
  thought?: boolean;
  /** The model's reasoning in encrypted form. Fairlead must send it back unchanged, together with its part. */
  thoughtSignature?: string;
}

/** One message of a conversation. Function responses have the role `user`. */
export interface Content {
  role: "user" | "model";
  parts: Part[];
}

/** The response to a function call. */
export interface FunctionResponse {
  id?: string;
  name?: string;
  response?: Record<string, unknown>;
  /** Media of the result, for models that accept media in a function response. */
  parts?: { inlineData?: { mimeType?: string; data?: string } }[];
}

/** A function call in the shape of the Gemini API. */
export interface FunctionCall {
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
}

/** A function declaration in the shape of the Gemini API. `parametersJsonSchema` is the compiled schema of a tool. */
export interface FunctionDeclaration {
  name: string;
  description: string;
  parametersJsonSchema: JsonObject;
}

/** The tool interface of `@google/genai`, for tools that Google's package calls by itself. */
export interface CallableTool {
  tool(): Promise<{ functionDeclarations?: { name?: string; description?: string; parametersJsonSchema?: unknown }[] }>;
  callTool(functionCalls: FunctionCall[]): Promise<Part[]>;
}
