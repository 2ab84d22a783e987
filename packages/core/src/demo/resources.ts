/** The demo server's resources: a text, a picture, and a template that gives one text for each knot. */

import { type JsonObject, type ListedResource, type ListedResourceTemplate, WireError } from "@fairlead/wire";
import { objectOf } from "@fairlead/wire/json";
import { drawPicture } from "./picture.ts";

/** Descriptions of knots, by name. */
export const knots: ReadonlyMap<string, string> = new Map([
  ["bowline", "A fixed loop that does not slip and is easy to untie after a load."],
  ["clove-hitch", "Two turns round a post: quick to tie and to adjust. Do not leave it unattended."],
  ["cleat-hitch", "Makes a line fast on a cleat: one turn, figures of eight, one locking turn."],
  ["figure-eight", "A stopper that keeps a line from running out through a fairlead."],
  ["reef-knot", "Ties two ends of one line round something. Do not join two lines with it."],
  ["sheet-bend", "Joins two lines, also when one is thicker than the other."],
]);

interface Resource {
  readonly definition: ListedResource;
  read(): JsonObject | Promise<JsonObject>;
}

/** URI template of the resources that describe knots. */
export const knotTemplate = "demo://knots/{name}";
const knotPrefix = "demo://knots/";

const resources: readonly Resource[] = [
  {
    definition: {
      uri: "demo://about",
      name: "about",
      title: "About this server",
      description: "What a fairlead is.",
      mimeType: "text/plain",
    },
    read: () => ({
      text: "A fairlead is the fitting on a ship's rail that guides a line in cleanly, whatever angle it comes from.",
    }),
  },
  {
    definition: {
      uri: "demo://picture",
      name: "picture",
      title: "A picture of waves",
      description: "A small PNG.",
      mimeType: "image/png",
    },
    read: async () => ({ blob: (await drawPicture("waves", 64)).toString("base64") }),
  },
];

/** The items of `resources/list`. */
export const resourceDefinitions: readonly ListedResource[] = resources.map(({ definition }) => definition);

/** The items of `resources/templates/list`. */
export const templateDefinitions: readonly ListedResourceTemplate[] = [
  {
    uriTemplate: knotTemplate,
    name: "knot",
    title: "A knot",
    description: `What a knot is good for: ${[...knots.keys()].join(", ")}.`,
    mimeType: "text/plain",
  },
];

export function listResources(params: JsonObject): JsonObject {
  refuseCursor(params);
  return { resources: resourceDefinitions };
}

export function listTemplates(params: JsonObject): JsonObject {
  refuseCursor(params);
  return { resourceTemplates: templateDefinitions };
}

/**
 * Answers `resources/read`.
 *
 * @throws WireError `rpc` with code -32002
 */
export async function readResource({ uri }: JsonObject): Promise<JsonObject> {
  const resource = resources.find(({ definition }) => definition.uri === uri);
  if (resource) return { contents: [{ uri, mimeType: resource.definition.mimeType, ...(await resource.read()) }] };
  const knot =
    typeof uri === "string" && uri.startsWith(knotPrefix) ? knots.get(uri.slice(knotPrefix.length)) : undefined;
  if (knot !== undefined) return { contents: [{ uri, mimeType: "text/plain", text: knot }] };
  throw new WireError("rpc", "Resource not found", { rpc: { code: -32002, data: { uri } } });
}

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

/**
 * Rejects any cursor.
 *
 * @throws WireError `rpc` with code -32602
 */
export function refuseCursor(params: JsonObject): void {
  if (params["cursor"] !== undefined) throw new WireError("rpc", "Invalid cursor", { rpc: { code: -32602 } });
}
