/** The status of each server of this process by name, as Gemini CLI keeps it: two clients with one name share a row. */

import { MCPServerStatus } from "../events.ts";
import { aFunction, aString, expectArguments } from "../expect-arguments.ts";

/** Receives the new status of a server. */
export type StatusChangeListener = (serverName: string, status: MCPServerStatus) => void;

const statuses = new Map<string, MCPServerStatus>();
const listeners = new Set<StatusChangeListener>();

/** The status of a server; `disconnected` for a name without a client. */
export function getMCPServerStatus(serverName: string): MCPServerStatus {
  expectArguments("getMCPServerStatus()", { serverName: [serverName, aString] });
  return statuses.get(serverName) ?? MCPServerStatus.DISCONNECTED;
}

/** Calls the listener at each change of a server's status. */
export function addMCPStatusChangeListener(listener: StatusChangeListener): void {
  expectArguments("addMCPStatusChangeListener()", { listener: [listener, aFunction] });
  listeners.add(listener);
}

export function removeMCPStatusChangeListener(listener: StatusChangeListener): void {
  expectArguments("removeMCPStatusChangeListener()", { listener: [listener, aFunction] });
  listeners.delete(listener);
}

/** Sets the status of a server, and tells the listeners if it is another one. */
export function setServerStatus(serverName: string, status: MCPServerStatus): void {
  if (getMCPServerStatus(serverName) === status) return;
  if (status === MCPServerStatus.DISCONNECTED) statuses.delete(serverName);
  else statuses.set(serverName, status);
  callEach(listeners, serverName, status);
}

/** Calls the listeners. One that throws is an uncaught error of the program, and does not disturb the connection. */
export function callEach<T extends readonly unknown[]>(called: Iterable<(...given: T) => void>, ...given: T): void {
  for (const listener of called) {
    try {
      listener(...given);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
