/** Whether Fairlead runs as a single executable: a copy of Node with all files of Fairlead inside. */

/** Whether this process is the single executable. Other programs then start Fairlead without Node and a main script. */
export function isSingleExecutable(): boolean {
  return process.getBuiltinModule("node:sea").isSea();
}
