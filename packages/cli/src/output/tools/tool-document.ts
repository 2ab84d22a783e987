/** A tool in JSON output. */

import type { HostTool } from "@fairlead/core/host";
import { isShallow } from "@fairlead/wire/json";

/** The tool as the model gets it, with the changes made to its schema. */
export function toolDocument(tool: HostTool): object {
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

export const tooDeep = "nested too deeply to be printed";

/** A server's JSON can be nested too deeply for `JSON.stringify`. */
function printable(value: object): object {
  return isShallow(value) ? value : { unprintable: tooDeep };
}
