/** The functions that Fairlead itself offers to a model, in addition to the tools of servers. Pure. */

import type { FunctionDeclaration } from "../../normalise/model-types.ts";

/** The default names of Fairlead's own functions. */
export const ownFunctions = [
  "list_resources",
  "read_resource",
  "search_tools",
  "call_tool",
  "read_result",
  "load_skill",
  "read_skill_file",
] as const;

/** The default name of one of Fairlead's own functions. */
export type OwnFunction = (typeof ownFunctions)[number];

/** The names of Fairlead's own functions in one conversation. A function is absent until its name is first needed. */
export type OwnNames = Readonly<Partial<Record<OwnFunction, string>>>;

/** Returns `own`. If a tool already has this name, adds the prefix `fairlead_`. */
export function freeName(own: string, isTaken: (name: string) => boolean): string {
  return isTaken(own) ? freeName(`fairlead_${own}`, isTaken) : own;
}

const server = { type: "string", description: "The name of the MCP server. Without it, all servers are searched." };

const skill = {
  server: { type: "string", description: "The name of the MCP server that offers the skill." },
  name: { type: "string", description: "The name of the skill, or the URI of its SKILL.md." },
};

/**
 * Creates the declaration of one of Fairlead's own functions.
 *
 * @param nameOf Returns the name that a function has in the conversation.
 */
export function declareOwnFunction(own: OwnFunction, nameOf: (own: OwnFunction) => string): FunctionDeclaration {
  const name = nameOf(own);
  switch (own) {
    case "list_resources":
      return {
        name,
        description:
          "Lists the resources of MCP servers, such as files, records and pages, each with its URI. A URI with {braces} is a template: replace each {name} by a value.",
        parametersJsonSchema: { type: "object", properties: { server } },
      };
    case "read_resource":
      return {
        name,
        description: `Reads a resource of an MCP server. ${nameOf("list_resources")} lists the resources.`,
        parametersJsonSchema: {
          type: "object",
          properties: { uri: { type: "string", description: "The exact URI." }, server },
          required: ["uri"],
        },
      };
    case "search_tools":
      return {
        name,
        description:
          "Finds tools. Many more tools exist than are declared here: before you say that something cannot be done, search for it. Use one short query for each thing to do. The exact name of a tool returns its full schema. A tool that was found can be called at once.",
        parametersJsonSchema: {
          type: "object",
          properties: {
            queries: {
              type: "array",
              items: { type: "string" },
              description: 'One for each capability, for example ["create a chart", "send an email"].',
            },
            limit: { type: "integer", description: "How many tools to return in all. Default: 10." },
          },
          required: ["queries"],
        },
      };
    case "call_tool":
      return {
        name,
        description: `Calls a tool that ${nameOf("search_tools")} has found and that is not declared here.`,
        parametersJsonSchema: {
          type: "object",
          properties: {
            name: { type: "string", description: `The tool's name, as ${nameOf("search_tools")} returned it.` },
            arguments: { type: "object", description: "The tool's arguments." },
          },
          required: ["name"],
        },
      };
    case "load_skill":
      return {
        name,
        description:
          "Loads a skill: instructions that an MCP server offers for a task. Your instructions list skills; a server may have others, whose URIs you know from it. Load a skill before you work on a task that it describes.",
        parametersJsonSchema: { type: "object", properties: skill, required: ["server", "name"] },
      };
    case "read_skill_file":
      return {
        name,
        description: `Reads another file of a skill. ${nameOf("load_skill")} names the files.`,
        parametersJsonSchema: {
          type: "object",
          properties: { ...skill, file: { type: "string", description: "The path of the file in the skill." } },
          required: ["server", "name", "file"],
        },
      };
    case "read_result":
      return {
        name,
        description:
          "Reads a stored result, which is named result://ID in this conversation. With only a handle, returns the beginning of the result. Give at most one of grep and jmespath.",
        parametersJsonSchema: {
          type: "object",
          properties: {
            handle: { type: "string", description: "result://ID" },
            from: {
              type: "integer",
              description:
                "The number of the first line to return, counted from 1. A negative number counts from the end. With grep, only matching lines are counted. With jmespath, lines or items of its outcome are counted.",
            },
            lines: { type: "integer", description: "How many lines or items to return. Default: as many as fit." },
            grep: {
              type: "string",
              description: "Return only lines that contain exactly this text, in the same case. Not a pattern.",
            },
            jmespath: {
              type: "string",
              description: "A JMESPath expression over a JSON result, for example items[?state=='open'].[id, title].",
            },
          },
          required: ["handle"],
        },
      };
  }
}
