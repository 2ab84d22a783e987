/** Chooses the server in suggested `mcp add` commands: one that can start with the programs of this machine. */

import { type Configuration, findOwnProgram, programPlace } from "@fairlead/core/trust";

const examples = [
  { program: "npx", words: "memory npx -y @modelcontextprotocol/server-memory" },
  { program: "uvx", words: "time uvx mcp-server-time" },
] as const;

/** Returns the name and the command of a server for `mcp add -s user`. Undefined if no program for one is installed. */
export async function exampleServer(
  configuration: Pick<Configuration, "environment" | "locations" | "trust">,
): Promise<string | undefined> {
  // On Windows the system finds programs. Node's installer puts npx beside node.
  if (configuration.environment.platform === "win32") return examples[0].words;
  const context = programPlace(configuration);
  for (const { program, words } of examples) if (await findOwnProgram(program, context)) return words;
  return undefined;
}
