/** The version of Fairlead. */

/** The bundle script sets this constant. */
declare const FAIRLEAD_VERSION: string | undefined;

/** Returns the version of the bundle. If Fairlead runs from its sources, returns `0.0.0-source`. */
export function version(): string {
  return typeof FAIRLEAD_VERSION === "string" ? FAIRLEAD_VERSION : "0.0.0-source";
}
