/** Tools as JSON: the documents of `tools --json` and `tools --raw`. */

import type { Catalog } from "@fairlead/core/discover/catalog";
import type { HiddenTool, HostNote, HostTool } from "@fairlead/core/host";
import type { QuarantinedTool } from "@fairlead/core/registry/tool-registry";
import { isShallow } from "@fairlead/wire/json";

export interface Listed {
  readonly tools: readonly HostTool[];
  readonly quarantined: readonly QuarantinedTool[];
  readonly hidden: readonly HiddenTool[];
  readonly notes: readonly HostNote[];
}

export function toolsDocument({ tools, quarantined, hidden, notes }: Listed): object {
  return {
    tools: tools.map(toolDocument),
    quarantined,
    ...(hidden.length > 0 && { hidden }),
    ...(notes.length > 0 && { warnings: notes }),
  };
}

/** The tool as the model gets it, with the changes made to its schema. */
function toolDocument(tool: HostTool): object {
  const { name, server, serverToolName, title, description, parametersJsonSchema, decision, repairs } = tool;
  const { annotations, outputSchema } = tool;
  return {
    name,
    server,
    serverToolName,
    ...(title !== undefined && { title }),
    description,
    parametersJsonSchema,
    ...(outputSchema && { outputSchema: printable(outputSchema) }),
    ...(annotations && { annotations: printable(annotations) }),
    decision,
    ...(repairs.length > 0 && { repairs }),
  };
}

/** The definitions exactly as the server sent them. */
export function rawDocument(server: string, { tools }: Pick<Catalog, "tools">): object {
  return {
    name: server,
    tools: tools.map((tool) => (isShallow(tool) ? tool : { name: tool.name, unprintable: tooDeep })),
  };
}

const tooDeep = "nested too deeply to be printed";

/** A server's JSON can be nested too deeply for `JSON.stringify`. */
function printable(value: object): object {
  return isShallow(value) ? value : { unprintable: tooDeep };
}
