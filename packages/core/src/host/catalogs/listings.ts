/** What is known of servers, in the shapes that a host gives out. Texts are the servers' own: raw, but for what a model is shown. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import type { CatalogPrompt } from "../../discover/catalog.ts";
import type { Repair } from "../../normalise/schema/compiled-schema.ts";
import type { Pair } from "../../policy/decide.ts";
import type { DecisionOutcome } from "../../policy/rules/rule.ts";
import type { DiscoveredMCPPrompt } from "../../registry/discovered-prompt.ts";
import type { DiscoveredMCPTool } from "../../registry/discovered-tool.ts";
import type { ResourceRegistry } from "../../registry/resource-registry.ts";

export interface HostTool {
  /** What a model is shown. Identity is the pair of `server` and `serverToolName`. */
  readonly name: string;
  readonly server: string;
  readonly serverToolName: string;
  readonly title?: string;
  /** As a model is shown it. */
  readonly description: string;
  /** Made to fit the model's API. */
  readonly parametersJsonSchema: JsonObject;
  /** What had to be changed for that. */
  readonly repairs: readonly Repair[];
  /** The server's own, which arguments are checked against. */
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  /** What a call of a model would meet, whatever its arguments. Absent until the rules have been read: `createHost` does, else `policy()`. */
  readonly decision?: DecisionOutcome;
}

export interface HostPrompt extends CatalogPrompt {
  readonly server: string;
  /** What a person types; the server's own is `serverPromptName`. */
  readonly name: string;
  readonly serverPromptName: string;
}

export type HostResource = {
  readonly server: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
} & (
  | { readonly kind: "resource"; readonly uri: string; readonly size?: number }
  | { readonly kind: "template"; readonly uriTemplate: string }
);

export function toHostTools(
  tools: readonly DiscoveredMCPTool[],
  decide: (tool: Pair) => DecisionOutcome | undefined,
): readonly HostTool[] {
  return tools.map((tool) => {
    const { serverName, serverToolName, title, outputSchema, annotations, repairs } = tool;
    const { name, description, parametersJsonSchema } = tool.schema;
    const decision = decide({ serverName, serverToolName });
    return {
      name,
      server: serverName,
      serverToolName,
      ...(title !== undefined && { title }),
      description,
      parametersJsonSchema,
      repairs,
      inputSchema: isObject(tool.parameterSchemaJson) ? tool.parameterSchemaJson : {},
      ...(outputSchema && { outputSchema }),
      ...(annotations && { annotations }),
      ...(decision && { decision }),
    };
  });
}

export function toHostPrompts(prompts: readonly DiscoveredMCPPrompt[]): readonly HostPrompt[] {
  return prompts.map(({ serverName, name, serverPromptName, title, description, arguments: wanted }) => ({
    server: serverName,
    name,
    serverPromptName,
    ...(title !== undefined && { title }),
    ...(description !== "" && { description }),
    arguments: wanted,
  }));
}

export function toHostResources(registry: ResourceRegistry): readonly HostResource[] {
  return [
    ...registry.getAllResources().map(
      ({ uri, serverName: server, ...resource }): HostResource => ({
        kind: "resource",
        uri,
        server,
        ...describe(resource),
        ...sizeOf(resource),
      }),
    ),
    ...registry.getAllTemplates().map(
      ({ uriTemplate, serverName: server, ...template }): HostResource => ({
        kind: "template",
        uriTemplate,
        server,
        ...describe(template),
      }),
    ),
  ];
}

type Described = Pick<HostResource, "name" | "title" | "description" | "mimeType">;

/** The server may have put anything beside these. */
function describe({ name, title, description, mimeType }: Described): Described {
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mimeType }),
  };
}

/** In bytes, if the server gives one that can be. */
function sizeOf({ size }: JsonObject): { readonly size?: number } {
  return typeof size === "number" && size >= 0 && Number.isFinite(size) ? { size } : {};
}
