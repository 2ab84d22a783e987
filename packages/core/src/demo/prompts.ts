/** The demo server's prompt. It has a required and an optional argument. */

import { type JsonObject, WireError } from "@fairlead/wire";
import { objectOf } from "@fairlead/wire/json";
import { refuseCursor } from "./lists.ts";
import { knots } from "./resources.ts";

/** Name of the demo server's only prompt. */
export const promptName = "teach";
/** Values that completion offers for the argument `audience`. Other values also work. */
export const audiences = ["beginner", "child", "sailor"] as const;

interface DemoPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
}

/** The items of `prompts/list`. */
export const promptDefinitions: readonly DemoPrompt[] = [
  {
    name: promptName,
    title: "Teach a knot",
    description: "Ask for a lesson on a knot.",
    arguments: [
      { name: "knot", description: "which knot", required: true },
      { name: "audience", description: "whom the lesson is for", required: false },
    ],
  },
];

export function listPrompts(params: JsonObject): JsonObject {
  refuseCursor(params);
  return { prompts: promptDefinitions };
}

/**
 * Answers `prompts/get`.
 *
 * @throws WireError `rpc` with code -32602
 */
export function getPrompt({ name, arguments: given }: JsonObject): JsonObject {
  if (name !== promptName) throw invalid(`Unknown prompt: ${String(name)}`);
  const args = new Map<string, unknown>(Object.entries(objectOf(given)));
  const knot = args.get("knot");
  const audience = args.get("audience") ?? "beginner";
  if (typeof knot !== "string" || typeof audience !== "string")
    throw invalid('The argument "knot" is required, and all arguments must be strings');
  const purpose = knots.get(knot);
  const words = `Teach a ${audience} to tie the ${knot}, step by step.${purpose === undefined ? "" : ` Keep in mind what it is for: ${purpose}`}`;
  return {
    description: `A lesson on the ${knot}`,
    messages: [{ role: "user", content: { type: "text", text: words } }],
  };
}

function invalid(message: string): WireError {
  return new WireError("rpc", message, { rpc: { code: -32602 } });
}
