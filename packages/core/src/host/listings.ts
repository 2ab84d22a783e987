/**
 * Converts registered tools, prompts and resources to the objects that a host lists. Texts are not escaped: they
 * stay as the server sent them. Pure.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { describeForModel } from "../normalise/description.ts";
import type { Repair } from "../normalise/schema/compile.ts";
import type { ToolIdentity } from "../policy/decide.ts";
import type { DecisionOutcome } from "../policy/rules/rule.ts";
import type { CatalogPrompt } from "../server/catalog.ts";
import type { DiscoveredMCPPrompt } from "../server/discovered-prompt.ts";
import type { RegisteredTool } from "../server/registered-tool.ts";
import type { DiscoveredMCPResource, DiscoveredMCPResourceTemplate } from "../server/registries.ts";
import type { Server } from "../server/server.ts";
import { type Skill, skillPath } from "../skills/skill.ts";
import { parseTemplate } from "../text/uri-template.ts";

/** A skill of a server. It is identified by `server` and `uri`. */
export interface HostSkill extends Skill {
  readonly server: string;
  /** The shortest name that means only this skill on its server: its name, or its path such as `acme/refunds`. */
  readonly label: string;
  /** Whether its files differ from those that the user has accepted. */
  readonly isChanged: boolean;
}

/** A tool of one server, as `host.tools()` lists it. */
export interface HostTool {
  /** The name that a model uses. `server` and `serverToolName` together identify the tool. */
  readonly name: string;
  readonly server: string;
  readonly serverToolName: string;
  readonly title?: string;
  /** The description that the model gets. */
  readonly description: string;
  /** The schema for the model, adapted to the limits of the model's API. */
  readonly parametersJsonSchema: JsonObject;
  /** The changes that adapted the schema to the model's API. */
  readonly repairs: readonly Repair[];
  /** The schema that the server sent. Fairlead checks arguments against it. */
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  /**
   * The decision if a model calls this tool, before the arguments are known. Absent until `createHost` or `policy()`
   * has read the rules.
   */
  readonly decision?: DecisionOutcome;
}

/** A prompt of one server, as `host.prompts()` lists it. */
export interface HostPrompt extends CatalogPrompt {
  readonly server: string;
  /** The name that the user types. `serverPromptName` is the name that the server uses. */
  readonly name: string;
  readonly serverPromptName: string;
}

/** A resource or a resource template of one server, as `host.resources()` lists it. */
export type HostResource = {
  readonly server: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
} & (
  | { readonly kind: "resource"; readonly uri: string; readonly size?: number }
  | {
      readonly kind: "template";
      readonly uriTemplate: string;
      /** Why the template cannot be used. Absent if the template is valid. */
      readonly unusable?: string;
    }
);

/** Lists tools for `host.tools()`. `decide` returns undefined if no rules are loaded. */
export function toHostTools(
  tools: readonly RegisteredTool[],
  decide: (tool: ToolIdentity) => DecisionOutcome | undefined,
): readonly HostTool[] {
  return tools.map((tool) => {
    const { name, serverName, serverToolName, title, outputSchema, annotations } = tool;
    const decision = decide({ serverName, serverToolName });
    return {
      name,
      server: serverName,
      serverToolName,
      title,
      // Description, schema and repairs are computed only when they are read, because most callers need only names.
      get description() {
        return describeForModel(tool.description);
      },
      get parametersJsonSchema() {
        return tool.schema.parametersJsonSchema;
      },
      get repairs() {
        return tool.repairs;
      },
      inputSchema: isObject(tool.parameterSchemaJson) ? tool.parameterSchemaJson : {},
      outputSchema,
      annotations,
      decision,
    };
  });
}

/** Lists prompts for `host.prompts()`. */
export function toHostPrompts(prompts: readonly DiscoveredMCPPrompt[]): readonly HostPrompt[] {
  return prompts.map(({ serverName, name, serverPromptName, title, description, arguments: wanted }) => ({
    server: serverName,
    name,
    serverPromptName,
    title,
    description: description === "" ? undefined : description,
    arguments: wanted,
  }));
}

/** Lists resources and resource templates for `host.resources()`. */
export function toHostResources(
  resources: readonly DiscoveredMCPResource[],
  templates: readonly DiscoveredMCPResourceTemplate[],
): readonly HostResource[] {
  return [
    ...resources.map(
      ({ uri, serverName: server, ...resource }): HostResource => ({
        kind: "resource",
        uri,
        server,
        ...describe(resource),
        ...sizeOf(resource),
      }),
    ),
    ...templates.map(
      ({ uriTemplate, serverName: server, ...template }): HostResource => ({
        kind: "template",
        uriTemplate,
        server,
        ...describe(template),
        ...unusableOf(uriTemplate),
      }),
    ),
  ];
}

function unusableOf(uriTemplate: string): { readonly unusable?: string } {
  const template = parseTemplate(uriTemplate);
  return template.kind === "malformed" ? { unusable: `the template ${template.reason}` } : {};
}

type Described = Pick<HostResource, "name" | "title" | "description" | "mimeType">;

/** Copies only these members, because a server may send others. */
function describe({ name, title, description, mimeType }: Described): Described {
  return {
    name,
    title,
    description,
    mimeType,
  };
}

/** The skills of a server, each with the shortest name that means only this skill. */
export function toHostSkills({ name: server, skills }: Server): readonly HostSkill[] {
  const all = skills.all();
  const counts = new Map<string, number>();
  for (const { name } of all) counts.set(name, (counts.get(name) ?? 0) + 1);
  return all.map((skill) => toHostSkill(server, skill, skills, (counts.get(skill.name) ?? 0) > 1));
}

/** One skill of a server. */
export function toOneHostSkill({ name: server, skills }: Server, skill: Skill): HostSkill {
  const isShared = skills.all().some(({ name, uri }) => name === skill.name && uri !== skill.uri);
  return toHostSkill(server, skill, skills, isShared);
}

function toHostSkill(server: string, skill: Skill, skills: Server["skills"], isShared: boolean): HostSkill {
  const label = isShared ? skillPath(skill.uri) : skill.name;
  return { ...skill, server, label, isChanged: skills.isChanged(skill) };
}

/** The size in bytes. Left out if the server sends none or an invalid one. */
function sizeOf({ size }: JsonObject): { readonly size?: number } {
  return typeof size === "number" && size >= 0 && Number.isFinite(size) ? { size } : {};
}
