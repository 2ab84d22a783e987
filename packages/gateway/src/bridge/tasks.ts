/** Tasks of modern servers, for modern clients that declare them: a task's id tells which server it belongs to. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, member, stringOf } from "@fairlead/wire/json";
import type { ClientCall } from "../asking/client-call.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";

export const tasksExtension = "io.modelcontextprotocol/tasks";

/** Whether capabilities, of a client or a server, have tasks of the modern era. */
export function hasTasks(capabilities: JsonObject | undefined): boolean {
  return isObject(member(capabilities?.["extensions"], tasksExtension));
}

/** What a call declares to its server. The gateway hides tasks from other clients: their calls take as long as the task. */
export function taskOptions({ era, capabilities }: ClientCall): {
  readonly tasks?: "caller";
  readonly extensions: JsonObject;
} {
  return era === "modern" && hasTasks(capabilities)
    ? { tasks: "caller", extensions: { extensions: { [tasksExtension]: {} } } }
    : { extensions: {} };
}

/** The id for a client of several servers; a client of one server gets the server's own. */
export function toClientTask(result: JsonObject, server: string, only: string | undefined): JsonObject {
  const taskId = stringOf(result["taskId"]);
  if (only !== undefined || taskId === undefined) return result;
  return { ...result, taskId: `${Buffer.from(server).toString("base64url")}.${taskId}` };
}

/** The server of a task and the parameters with the server's own id. @throws WireError for a client without tasks */
export function serverTask(
  call: ClientCall,
  params: JsonObject,
  { only, servers }: { readonly only: string | undefined; readonly servers: readonly string[] },
): { readonly server: string; readonly params: JsonObject } {
  if (call.era === "legacy") throw rpcError(rpcCodes.methodNotFound, "the gateway does not support tasks of this era");
  if (!hasTasks(call.capabilities))
    throw rpcError(rpcCodes.missingCapability, "the client does not declare tasks", {
      requiredCapabilities: { extensions: { [tasksExtension]: {} } },
    });
  const taskId = stringOf(params["taskId"]) ?? "";
  const [prefix = "", ...rest] = taskId.split(".");
  const server = only ?? Buffer.from(prefix, "base64url").toString("utf8");
  const own = only === undefined ? rest.join(".") : taskId;
  if (own === "" || !servers.includes(server)) throw rpcError(rpcCodes.invalidParams, "the task is not known");
  return { server, params: { ...params, taskId: own } };
}
