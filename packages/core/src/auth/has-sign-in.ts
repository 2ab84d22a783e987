/** Says why a person cannot sign in to a server. */

import { HostError } from "../errors.ts";
import type { ServerDefinition, StdioTransport } from "../settings/define/definition.ts";
import { toShellWord } from "../text/shell-word.ts";
import { bringsOwnHeader } from "./store/sign-in-state.ts";

/** Throws if the user cannot sign in to this server, for example a stdio server. @throws HostError `usage` */
export function checkHasSignIn(definition: ServerDefinition): void {
  const { name: serverName, transport, origin } = definition;
  if (transport.kind === "stdio") throw isProgram(serverName, transport, `${origin.file}:${origin.line}`);
  const { machineAuth } = definition.extras;
  if (machineAuth !== undefined)
    throw new HostError(
      "usage",
      `"${serverName}" needs no sign-in: Fairlead gets its tokens with machineAuth (${machineAuth.settings.kind})`,
      { serverName, next: `fairlead mcp test ${toShellWord(serverName)}` },
    );
  if (definition.authentication.provider !== "oauth" || !bringsOwnHeader(definition)) return;
  throw new HostError("usage", `"${serverName}" has an Authorization header in its entry, so it needs no sign-in`, {
    serverName,
    next: `to sign in instead, remove the header from ${origin.file}:${origin.line}`,
  });
}

function isProgram(serverName: string, { env }: StdioTransport, where: string): HostError {
  const names = [...env.keys()];
  const set = names.length === 0 ? '"env" is empty' : `"env" has ${names.join(", ")}`;
  return new HostError(
    "usage",
    `"${serverName}" is a local program and has no sign-in: it gets credentials from "env" in its entry (${set})`,
    {
      serverName,
      next: `set the credential in ${where}; to keep the value out of that file: fairlead secret set NAME`,
    },
  );
}
