/** Converts a tool to JSON output. */

import type { HostTool } from "@fairlead/core/host";
import { isShallow } from "@fairlead/wire/json";
import { unlessEmpty } from "../output.ts";

/** Returns the tool as the model gets it, and a list of the changes that Fairlead made to the tool's schema. */
export function toolDocument(tool: HostTool): object {
  const { name, server, serverToolName, title, description, parametersJsonSchema, decision, repairs } = tool;
  const { annotations, outputSchema } = tool;
  return {
    name,
    server,
    serverToolName,
    title,
    description,
    parametersJsonSchema,
    outputSchema: outputSchema && printable(outputSchema),
    annotations: annotations && printable(annotations),
    decision,
    repairs: unlessEmpty(repairs),
  };
}

/** The placeholder for a value that is nested too deeply. */
export const tooDeep = "nested too deeply to be printed";

/** Returns the value, or a placeholder if the value is nested too deeply for `JSON.stringify`. */
function printable(value: object): object {
  return isShallow(value) ? value : { unprintable: tooDeep };
}
