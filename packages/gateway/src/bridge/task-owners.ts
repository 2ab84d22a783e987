/**
 * Records which client started each task. Many servers number their tasks, so a client could guess another client's
 * task id.
 */

import type { JsonObject } from "@fairlead/wire";
import { stringOf } from "@fairlead/wire/json";
import { rpcCodes, rpcError } from "./rpc-error.ts";

interface TaskRequest {
  readonly server: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** Remembers the clients of the last 10 000 tasks of each host. */
export interface TaskOwners {
  /** Records the client as the owner if the server's result is a task. */
  note(
    host: object,
    client: { readonly name: string },
    begun: { readonly server: string; readonly result: JsonObject },
  ): void;
  /**
   * Checks that the task does not belong to another client. After a restart of the gateway, owners are unknown and
   * every client may use a task.
   *
   * @throws WireError if the task belongs to another client
   */
  check(host: object, client: { readonly name: string }, request: TaskRequest): void;
}

const mostTasks = 10_000;

/** Creates an empty record. Nothing is stored on disk. */
export function createTaskOwners(): TaskOwners {
  /** For each host: the client's name by server name and task id. */
  const owners = new WeakMap<object, Map<string, string>>();

  return {
    note(host, { name }, { server, result }) {
      const taskId = stringOf(result["taskId"]);
      if (taskId === undefined || result["resultType"] !== "task") return;
      const taskOwners = owners.get(host) ?? new Map<string, string>();
      owners.set(host, taskOwners);
      taskOwners.set(JSON.stringify([server, taskId]), name);
      const [oldest] = taskOwners.keys();
      if (taskOwners.size > mostTasks && oldest !== undefined) taskOwners.delete(oldest);
    },
    check(host, { name }, { server, method, params }) {
      if (!method.startsWith("tasks/")) return;
      const owner = owners.get(host)?.get(JSON.stringify([server, params["taskId"]]));
      if (owner !== undefined && owner !== name) throw rpcError(rpcCodes.invalidParams, "unknown task");
    },
  };
}
