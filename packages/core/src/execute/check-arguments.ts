/** Checks the arguments of a call against the tool's own schema before anything is sent to the server. */

import type { JsonObject } from "@fairlead/wire";
import type { CatalogTool } from "../discover/catalog.ts";
import { HostError } from "../errors.ts";
import { toShellWord } from "../text/shell-word.ts";
import { describeIssues } from "./describe-issues.ts";
import type { Validator } from "./validation/validator.ts";

/** The arguments of one call. */
export interface CallArguments {
  readonly serverName: string;
  readonly tool: CatalogTool;
  readonly args: JsonObject;
}

/**
 * Returns warnings about what could not be checked.
 *
 * @throws HostError `arguments_invalid`, naming every mistake
 */
export async function checkArguments(
  { serverName, tool, args }: CallArguments,
  validator: Pick<Validator, "validate">,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { issues, warnings } = await validator.validate(tool.inputSchema, args, signal);
  if (issues.length === 0) return warnings;
  const wrong = describeIssues(issues, { schema: tool.inputSchema, value: args, whole: "the arguments" });
  throw new HostError("arguments_invalid", `${serverName}.${tool.name} has invalid arguments: ${wrong}`, {
    serverName,
    next: `fairlead tools ${toShellWord(serverName)}`,
  });
}
