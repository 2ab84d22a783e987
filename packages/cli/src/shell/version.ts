/** The version of Fairlead. */

/** The bundle script sets this constant. */
declare const FAIRLEAD_VERSION: string | undefined;

export function version(): string {
  return typeof FAIRLEAD_VERSION === "string" ? FAIRLEAD_VERSION : "0.0.0-source";
}
