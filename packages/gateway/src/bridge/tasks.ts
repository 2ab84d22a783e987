/**
 * Passes tasks of modern servers on to modern clients that declare tasks. Adds the server's name to the task id, so
 * that the gateway can find the server.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, member, stringOf } from "@fairlead/wire/json";
import type { ClientCall } from "../questions/client-call.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";

/** The name of the tasks extension in the capabilities. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** Whether a client or a server declares modern tasks. */
export function hasTasks(capabilities: JsonObject | undefined): boolean {
  return isObject(member(capabilities?.["extensions"], tasksExtension));
}

const noTasks = {};

/**
 * Returns options for `host.forward`. If the client does not declare tasks, the gateway waits until the task ends, and
 * the client gets only the result.
 */
export function taskOptions({ era, capabilities }: ClientCall): {
  readonly tasks?: "caller";
  readonly extensions?: JsonObject;
} {
  return era === "modern" && hasTasks(capabilities)
    ? { tasks: "caller", extensions: { extensions: { [tasksExtension]: {} } } }
    : noTasks;
}

/**
 * Returns the result with a task id that contains the server's name. At `/mcp/<server>`, the task id stays unchanged.
 */
export function toClientTask(result: JsonObject, server: string, only: string | undefined): JsonObject {
  const taskId = stringOf(result["taskId"]);
  if (only !== undefined || taskId === undefined) return result;
  return { ...result, taskId: `${Buffer.from(server).toString("base64url")}.${taskId}` };
}

/**
 * Returns the server of a task, and the parameters with the task id that this server uses.
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
