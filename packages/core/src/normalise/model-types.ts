/** The few shapes of the Gemini API that the host speaks, written down so that its package is not needed; a test holds them against its types. */

import type { JsonObject } from "@fairlead/wire";

/** A part of a message in the shape of the Gemini API. */
export interface Part {
  text?: string;
  inlineData?: { mimeType?: string; data?: string };
  functionCall?: FunctionCall;
  functionResponse?: FunctionResponse;
  /** The model thinks aloud: nothing that it says to the person. */
  thought?: boolean;
  /** The model's own note to itself, sealed: goes back with the part it came with, unchanged. */
  thoughtSignature?: string;
}

/** What one side says in a conversation. Results of calls are said by the user's side. */
export interface Content {
  role: "user" | "model";
  parts: Part[];
}

export interface FunctionResponse {
  id?: string;
  name?: string;
  response?: Record<string, unknown>;
  /** Media that belong to the result, for models that take them here. */
  parts?: { inlineData?: { mimeType?: string; data?: string } }[];
}

/** A function call in the shape of the Gemini API. */
export interface FunctionCall {
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
}

/** A function declaration in the shape of the Gemini API; `parametersJsonSchema` is the compiled schema of a tool. */
export interface FunctionDeclaration {
  name: string;
  description: string;
  parametersJsonSchema: JsonObject;
}

/** What `@google/genai` takes as a tool that it may call by itself, and gives for an MCP client; the latter's declarations may lack anything. */
export interface CallableTool {
  tool(): Promise<{ functionDeclarations?: { name?: string; description?: string; parametersJsonSchema?: unknown }[] }>;
  callTool(functionCalls: FunctionCall[]): Promise<Part[]>;
}
