/**
 * Passes tasks of modern servers on to modern clients that declare tasks. The task id that a client gets says which
 * server has the task, and proves that the task is this client's: many servers number their tasks, so a client could
 * guess another client's task id. The gateway keeps no list of tasks.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, member, stringOf } from "@fairlead/wire/json";
import type { GatewayKey } from "../gateway-key.ts";
import type { ClientCall } from "../questions/client-call.ts";
import type { Principal } from "../workspaces.ts";
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
    ? { tasks: "caller", extensions: { [tasksExtension]: {} } }
    : noTasks;
}

/** The client of a task, its server, and where the task runs (`Server.taskScope`); undefined if it runs no more. */
interface TaskOwner {
  readonly client: { readonly name: string };
  /** The user of a team. */
  readonly principal: Principal | undefined;
  readonly server: string;
  readonly scope: () => string | undefined;
}

/** Translates between the task ids of servers and those of clients. */
export interface TaskIds {
  /** Returns the result of a request with the client's task id, if it is a task or belongs to one. */
  toClient(owner: TaskOwner, method: string, result: JsonObject): Promise<JsonObject>;
  /**
   * Returns the parameters of a request about a task with the server's task id.
   * @throws WireError if the task id was not given to this client, or if the server's program has ended since
   */
  toServer(owner: TaskOwner, params: JsonObject): Promise<JsonObject>;
}

export function createTaskIds(key: () => Promise<GatewayKey>): TaskIds {
  /** @throws WireError if the server's program has ended */
  function ownedText({ client, principal, server, scope: current }: TaskOwner, taskId: string): string {
    const scope = current();
    if (scope === undefined) throw unknownTask();
    const user = principal && [principal.tenant, principal.id];
    return JSON.stringify([...(user ?? []), client.name, server, scope, taskId]);
  }

  return {
    async toClient(owner, method, result) {
      const taskId = stringOf(result["taskId"]);
      if (taskId === undefined || (result["resultType"] !== "task" && !isTaskMethod(method))) return result;
      const code = (await key()).codeOf("task", ownedText(owner, taskId));
      return { ...result, taskId: [Buffer.from(owner.server).toString("base64url"), code, taskId].join(".") };
    },
    async toServer(owner, params) {
      const [, given = "", ...rest] = (stringOf(params["taskId"]) ?? "").split(".");
      const taskId = rest.join(".");
      if (taskId === "" || !(await key()).isCodeOf("task", ownedText(owner, taskId), given)) throw unknownTask();
      return { ...params, taskId };
    },
  };
}

/** Whether a method is about a task that an earlier call has begun. */
export function isTaskMethod(method: string): boolean {
  return method.startsWith("tasks/");
}

function unknownTask(): Error {
  return rpcError(rpcCodes.invalidParams, "unknown task");
}

/**
 * Returns the server in a task id. `TaskIds.toServer` checks the rest of the id.
 * @throws WireError if the client does not declare tasks, or cannot use the server
 */
export function serverOfTask(call: ClientCall, { taskId }: JsonObject, servers: readonly string[]): string {
  if (call.era === "legacy")
    throw rpcError(rpcCodes.methodNotFound, "the gateway supports tasks only for modern clients");
  if (!hasTasks(call.capabilities))
    throw rpcError(rpcCodes.missingCapability, "the client does not declare tasks", {
      requiredCapabilities: { extensions: { [tasksExtension]: {} } },
    });
  const [prefix = ""] = (stringOf(taskId) ?? "").split(".");
  const server = Buffer.from(prefix, "base64url").toString("utf8");
  if (!servers.includes(server)) throw unknownTask();
  return server;
}
