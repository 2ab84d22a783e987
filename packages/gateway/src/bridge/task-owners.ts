/**
 * Records which client owns each task. Without this record, a client could guess the id of another client's task,
 * because many servers number their tasks.
 */

import type { JsonObject } from "@fairlead/wire";
import { stringOf } from "@fairlead/wire/json";
import { rpcCodes, rpcError } from "./rpc-error.ts";

interface TaskRequest {
  readonly server: string;
  readonly method: string;
  readonly params: JsonObject;
}

export interface TaskOwners {
  /** Records the client as the owner of the task, if the server's result is a task. */
  note(
    host: object,
    client: { readonly name: string },
    begun: { readonly server: string; readonly result: JsonObject },
  ): void;
  /**
   * Checks that the client may use the task. If the gateway has restarted, the owner is unknown, and every client may
   * use the task.
   *
   * @throws WireError if the task belongs to another client
   */
  check(host: object, client: { readonly name: string }, request: TaskRequest): void;
}

const mostTasks = 10_000;

export function createTaskOwners(): TaskOwners {
  /** The name of the client that owns each task. The inner key is the server's name and the task id. */
  const owners = new WeakMap<object, Map<string, string>>();

  return {
    note(host, { name }, { server, result }) {
      const taskId = stringOf(result["taskId"]);
      if (taskId === undefined || result["resultType"] !== "task") return;
      const known = owners.get(host) ?? new Map<string, string>();
      owners.set(host, known);
      known.set(JSON.stringify([server, taskId]), name);
      const [oldest] = known.keys();
      if (known.size > mostTasks && oldest !== undefined) known.delete(oldest);
    },
    check(host, { name }, { server, method, params }) {
      if (!method.startsWith("tasks/")) return;
      const owner = owners.get(host)?.get(JSON.stringify([server, params["taskId"]]));
      if (owner !== undefined && owner !== name) throw rpcError(rpcCodes.invalidParams, "unknown task");
    },
  };
}
