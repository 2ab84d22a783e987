/** Identifies the processes that use the inbox, so that other processes can tell whether they still run. */

import { isProcessRunning, startTimeOf } from "@fairlead/core/files/running-process";
import { isObject } from "@fairlead/wire/json";

export interface InboxProcess {
  readonly pid: number;
  /** When the process started, in clock ticks. Empty on systems without `/proc`. */
  readonly start: string;
}

export function thisProcess(): InboxProcess {
  const { pid } = process;
  return { pid, start: startTimeOf(pid) };
}

/** Whether the process still runs. A later process with the same id has another start time. */
export function stillRuns({ pid, start }: InboxProcess): boolean {
  return isProcessRunning(pid) && startTimeOf(pid) === start;
}

const highestPid = 0x7fffffff;
const startTime = /^\d{0,20}$/;

/** Reads the identity of a process from a file's JSON. Returns undefined if it is missing or invalid. */
export function parseProcess(value: unknown): InboxProcess | undefined {
  if (!isObject(value)) return undefined;
  const { pid, start } = value;
  // A process id of 0 or below means a process group.
  if (typeof pid !== "number" || !Number.isInteger(pid) || pid <= 0 || pid > highestPid) return undefined;
  return typeof start === "string" && startTime.test(start) ? { pid, start } : undefined;
}
