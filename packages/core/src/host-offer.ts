/** What connected servers offer, in the shapes that a host gives out, under names that do not collide. Pure. */

import type { JsonObject } from "@fairlead/wire";
import type { Catalog, CatalogPrompt, CatalogTool } from "./discover/catalog.ts";
import { closedBy } from "./policy/permissions.ts";
import type { HostSettings } from "./settings/definition.ts";

export interface HostTool {
  /** What a model is shown. Identity is the pair of `server` and `serverToolName`. */
  readonly name: string;
  readonly server: string;
  readonly serverToolName: string;
  readonly title?: string;
  readonly description: string;
  readonly parametersJsonSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  /** What a call of a model would meet. */
  readonly decision: "allow" | "ask_user" | "deny";
}

export type HostPrompt = CatalogPrompt & { readonly server: string };

export type HostResource = {
  readonly server: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
} & ({ readonly kind: "resource"; readonly uri: string } | { readonly kind: "template"; readonly uriTemplate: string });

/** A server and what it offers. */
export interface Offered {
  readonly server: string;
  readonly catalog: Catalog;
}

interface ToolOptions {
  /** The server that never takes a bare name. */
  readonly humble: string | undefined;
  readonly permissions: HostSettings["permissions"];
}

/** The first keeps the bare name, and first is who stands first in the settings. */
export function toHostTools(offered: readonly Offered[], { humble, permissions }: ToolOptions): readonly HostTool[] {
  const taken = new Set<string>();
  return offered.flatMap(({ server, catalog }) =>
    catalog.tools.map((tool) => {
      const isBare = server !== humble && !taken.has(tool.name);
      const name = isBare ? tool.name : `${server}__${tool.name}`;
      taken.add(name);
      const isClosed = closedBy(permissions, server, tool.name) !== undefined;
      return { ...toHostTool(tool, name, server), decision: isClosed ? "deny" : "ask_user" };
    }),
  );
}

function toHostTool(tool: CatalogTool, name: string, server: string): Omit<HostTool, "decision"> {
  const { name: serverToolName, title, description = "", inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    server,
    serverToolName,
    ...(title !== undefined && { title }),
    description,
    parametersJsonSchema: inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
  };
}

export function toHostPrompts(offered: readonly Offered[]): readonly HostPrompt[] {
  return offered.flatMap(({ server, catalog }) => catalog.prompts.map((prompt) => ({ ...prompt, server })));
}

export function toHostResources(offered: readonly Offered[]): readonly HostResource[] {
  return offered.flatMap(({ server, catalog }) => [
    ...catalog.resources.map(
      (resource): HostResource => ({ kind: "resource", uri: resource.uri, server, ...describe(resource) }),
    ),
    ...catalog.resourceTemplates.map(
      (template): HostResource => ({
        kind: "template",
        uriTemplate: template.uriTemplate,
        server,
        ...describe(template),
      }),
    ),
  ]);
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
