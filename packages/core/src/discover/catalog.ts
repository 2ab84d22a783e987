/** What a server offers, read once from a conversation with it. Texts are the server's own: raw. */

import type { JsonObject, Session } from "@fairlead/wire";
import { HostError } from "../errors.ts";

export interface CatalogTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  /** Hints of the server about itself; nothing may be decided by them. */
  readonly annotations?: JsonObject;
}

export interface CatalogPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments: readonly { readonly name: string; readonly description?: string; readonly required: boolean }[];
}

interface Described {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

export type CatalogResource = Described &
  ({ readonly kind: "resource"; readonly uri: string } | { readonly kind: "template"; readonly uriTemplate: string });

export interface Catalog {
  readonly tools: readonly CatalogTool[];
  readonly prompts: readonly CatalogPrompt[];
  readonly resources: readonly CatalogResource[];
}

/** Asks for what the server says it has. */
export async function readCatalog(serverName: string, session: Session, signal?: AbortSignal): Promise<Catalog> {
  const options = signal === undefined ? {} : { signal };
  async function list(capability: string, method: string, key: string): Promise<readonly Item[]> {
    if (session.capabilities[capability] === undefined) return [];
    const answer = (await session.request(method, {}, options))[key];
    if (!Array.isArray(answer))
      throw new HostError("protocol", `"${serverName}" answered ${method} without ${key}`, { serverName });
    return answer.map((item: unknown) => createItem(item, `${method} of "${serverName}"`));
  }
  const [tools, prompts, resources, templates] = await Promise.all([
    list("tools", "tools/list", "tools"),
    list("prompts", "prompts/list", "prompts"),
    list("resources", "resources/list", "resources"),
    list("resources", "resources/templates/list", "resourceTemplates"),
  ]);
  return {
    tools: tools.map(toTool),
    prompts: prompts.map(toPrompt),
    resources: [
      ...resources.map((item): CatalogResource => ({ kind: "resource", uri: item.text("uri"), ...describe(item) })),
      ...templates.map(
        (item): CatalogResource => ({ kind: "template", uriTemplate: item.text("uriTemplate"), ...describe(item) }),
      ),
    ],
  };
}

function toTool(item: Item): CatalogTool {
  return {
    name: item.text("name"),
    ...item.texts("title", "description"),
    inputSchema: item.object("inputSchema"),
    ...item.objects("outputSchema", "annotations"),
  };
}

function toPrompt(item: Item): CatalogPrompt {
  return {
    name: item.text("name"),
    ...item.texts("title", "description"),
    arguments: item.items("arguments").map((argument) => ({
      name: argument.text("name"),
      ...argument.texts("description"),
      required: argument.isTrue("required"),
    })),
  };
}

function describe(item: Item): Described {
  return { name: item.text("name"), ...item.texts("title", "description", "mimeType") };
}

/** One entry of a list, whose fields may be anything. */
interface Item {
  text(name: string): string;
  texts<N extends string>(...names: readonly N[]): { readonly [K in N]?: string };
  object(name: string): JsonObject;
  objects<N extends string>(...names: readonly N[]): { readonly [K in N]?: JsonObject };
  items(name: string): readonly Item[];
  isTrue(name: string): boolean;
}

function createItem(value: unknown, where: string): Item {
  const fields = new Map<string, unknown>(isObject(value) ? Object.entries(value) : []);
  const missing = (name: string): HostError =>
    new HostError("protocol", `${where} has an entry without a proper "${name}"`);
  function pick<N extends string, T>(
    names: readonly N[],
    accepts: (field: unknown) => field is T,
  ): { readonly [K in N]?: T } {
    const found = names.flatMap((name) => {
      const field = fields.get(name);
      return accepts(field) ? [[name, field] as const] : [];
    });
    return Object.fromEntries(found) as { readonly [K in N]?: T };
  }
  return {
    text: (name) => pick([name], isText)[name] ?? raise(missing(name)),
    texts: (...names) => pick(names, isText),
    object: (name) => pick([name], isObject)[name] ?? raise(missing(name)),
    objects: (...names) => pick(names, isObject),
    items(name) {
      const list = fields.get(name) ?? [];
      return Array.isArray(list) ? list.map((entry: unknown) => createItem(entry, where)) : raise(missing(name));
    },
    isTrue: (name) => fields.get(name) === true,
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function raise(error: HostError): never {
  throw error;
}
