/**
 * Passes tasks of modern servers on to modern clients that declare tasks. The task id that a client gets contains the
 * name of the server.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, member, stringOf } from "@fairlead/wire/json";
import type { ClientCall } from "../questions/client-call.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";

export const tasksExtension = "io.modelcontextprotocol/tasks";

/** Whether the capabilities of a client or a server include modern tasks. */
export function hasTasks(capabilities: JsonObject | undefined): boolean {
  return isObject(member(capabilities?.["extensions"], tasksExtension));
}

const noTasks = {};

/**
 * Returns the task options of a call. If the client does not declare tasks, the gateway waits for the end of a task
 * itself, and the client gets the task's result.
 */
export function taskOptions({ era, capabilities }: ClientCall): {
  readonly tasks?: "caller";
  readonly extensions?: JsonObject;
} {
  return era === "modern" && hasTasks(capabilities)
    ? { tasks: "caller", extensions: { extensions: { [tasksExtension]: {} } } }
    : noTasks;
}

/** Returns a server's result with the task id for the client. At `/mcp/<server>`, this is the server's own task id. */
export function toClientTask(result: JsonObject, server: string, only: string | undefined): JsonObject {
  const taskId = stringOf(result["taskId"]);
  if (only !== undefined || taskId === undefined) return result;
  return { ...result, taskId: `${Buffer.from(server).toString("base64url")}.${taskId}` };
}

/**
 * Returns the server of a task, and the parameters with that server's own task id.
 *
 * @throws WireError if the client does not declare tasks, or if the task id is invalid
 */
export function serverTask(
  call: ClientCall,
  params: JsonObject,
  { only, servers }: { readonly only: string | undefined; readonly servers: readonly string[] },
): { readonly server: string; readonly params: JsonObject } {
  if (call.era === "legacy")
    throw rpcError(rpcCodes.methodNotFound, "the gateway supports tasks only for modern clients");
  if (!hasTasks(call.capabilities))
    throw rpcError(rpcCodes.missingCapability, "the client does not declare tasks", {
      requiredCapabilities: { extensions: { [tasksExtension]: {} } },
    });
  const taskId = stringOf(params["taskId"]) ?? "";
  const [prefix = "", ...rest] = taskId.split(".");
  const server = only ?? Buffer.from(prefix, "base64url").toString("utf8");
  const own = only === undefined ? rest.join(".") : taskId;
  if (own === "" || !servers.includes(server)) throw rpcError(rpcCodes.invalidParams, "unknown task");
  return { server, params: { ...params, taskId: own } };
}
