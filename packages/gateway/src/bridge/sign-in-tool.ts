/**
 * The gateway's own tool `sign_in`, in a team: the tools of a server at which the user is not signed in cannot be listed,
 * so without it no call would ever ask for the sign-in.
 */

import { SignInNeeded } from "@fairlead/core/auth";
import type { JsonObject } from "@fairlead/wire";
import { objectOf, stringOf } from "@fairlead/wire/json";
import type { ClientCall } from "../questions/client-call.ts";
import { askForSignIn } from "../questions/sign-in-request.ts";
import { adaptResult, toolError } from "./adapt-result.ts";
import type { ReceivedRequest } from "./answer-request.ts";
import type { BridgeContext } from "./bridge-context.ts";

/** The tool's definition. Undefined if none of the client's servers needs a sign-in. */
export function signInToolDefinition(context: BridgeContext): JsonObject | undefined {
  const { signIn: name } = context.view();
  const servers = unsignedServers(context);
  if (name === undefined || servers.length === 0) return undefined;
  return {
    name,
    description:
      "Asks the user to sign in to an MCP server whose tools are not listed yet. Use it if a task needs one of these servers.",
    inputSchema: {
      type: "object",
      properties: { server: { type: "string", enum: servers, description: "The server to sign in to." } },
      required: ["server"],
    },
    annotations: { readOnlyHint: true, openWorldHint: true },
  };
}

/** Runs the tool. */
export async function signInForClient(
  context: BridgeContext,
  call: ClientCall,
  { method, params, onSignIn }: ReceivedRequest,
): Promise<JsonObject> {
  const { signIns, workspace, client } = context;
  const { principal } = workspace;
  const server = stringOf(objectOf(params["arguments"])["server"]) ?? "";
  if (!context.view().servers.includes(server))
    return toolError(`there is no server ${JSON.stringify(server.slice(0, 200))}`, call.era);
  if (signIns === undefined || principal === undefined) return toolError("this gateway has no sign-ins", call.era);
  if (!(await signIns.isSignedIn(principal, server))) {
    onSignIn?.(server);
    const link = signIns.linkFor({ principal, client: client.name, server, scopes: [] });
    const next = "This user cannot sign in with a browser at this gateway.";
    return askForSignIn(call, method, new SignInNeeded(server, next), link);
  }
  await context.discovered(call.era, call.signal);
  const text = unsignedServers(context).includes(server)
    ? `You are signed in, but "${server}" still refuses the connection. Try again later.`
    : `You are signed in to "${server}". List the tools again to use it.`;
  return adaptResult("tools/call", { content: [{ type: "text", text }] }, call.era);
}

/** The client's servers that require a sign-in and have no loaded catalog. */
function unsignedServers({ view, workspace }: BridgeContext): readonly string[] {
  return view().servers.filter((name) => {
    const server = workspace.host.gateway.servers.find(name);
    return server !== undefined && workspace.needsSignIn(server) && workspace.host.catalog(name) === undefined;
  });
}
