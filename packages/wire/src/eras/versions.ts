/** The protocol versions that Fairlead supports. */

/** Modern versions, newest first. Requests use the first version. */
export const modernVersions: readonly string[] = ["2026-07-28"];

/** Legacy versions, newest first. `initialize` proposes the first version. */
export const legacyVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

/** Returns the first of `ours` (newest first) that the server supports, or undefined. */
export function commonVersion(ours: readonly string[], theirs: unknown): string | undefined {
  return Array.isArray(theirs) ? ours.find((version) => theirs.includes(version)) : undefined;
}
