/** The version of Fairlead. */

/** The bundle script sets this constant. */
declare const FAIRLEAD_VERSION: string | undefined;

/** Returns the version of the bundle. If Fairlead runs from its sources, returns `0.0.0-source`. */
export function version(): string {
  return typeof FAIRLEAD_VERSION === "string" ? FAIRLEAD_VERSION : "0.0.0-source";
}

// Whether Fairlead runs as a single executable: a copy of Node with all files of Fairlead inside.

/** Whether this process is the single executable. Other programs then start Fairlead without Node and a main script. */
export function isSingleExecutable(): boolean {
  return process.getBuiltinModule("node:sea").isSea();
}
