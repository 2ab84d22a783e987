/** Declares the two functions by which a model lists and reads resources. Pure. */

import type { FunctionDeclaration } from "../normalise/model-types.ts";

/** The two functions. */
export type ResourceFunction = "list" | "read";

/** Their names in a conversation. */
export type ResourceFunctionNames = Readonly<Record<ResourceFunction, string>>;

/** Chooses names that no tool has: a tool with the same name keeps it. */
export function chooseResourceNames(taken: readonly string[]): ResourceFunctionNames {
  const names = new Set(taken);
  const free = (name: string): string => (names.has(name) ? free(`fairlead_${name}`) : name);
  return { list: free("list_resources"), read: free("read_resource") };
}

const server = { type: "string", description: "The name of the MCP server, where several are meant otherwise." };

/** Returns the declarations. */
export function declareResourceFunctions({ list, read }: ResourceFunctionNames): readonly FunctionDeclaration[] {
  return [
    {
      name: list,
      description:
        "Lists the resources that MCP servers offer to be read: files, records, pages, each with its URI. A URI with {braces} is a template: fill them in.",
      parametersJsonSchema: { type: "object", properties: { server } },
    },
    {
      name: read,
      description: `Reads a resource of an MCP server. ${list} tells which there are.`,
      parametersJsonSchema: {
        type: "object",
        properties: { uri: { type: "string", description: "The URI, letter by letter." }, server },
        required: ["uri"],
      },
    },
  ];
}
