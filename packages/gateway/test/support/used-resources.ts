/** What this process uses, for tests of what clients leave behind. */

import { existsSync, readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { forgetEndedResources } from "@fairlead/test-servers";

/** How many file descriptors this process has open. 0 where the system does not list them. */
export function openDescriptors(): number {
  return existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0;
}

/** The bytes on this process's heap that are in use, without what the leak guard keeps of resources that have ended. */
export function heapBytes(): number {
  forgetEndedResources();
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
