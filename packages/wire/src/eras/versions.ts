/** The revisions of the protocol that are spoken here. */

/** Newest first; the first is what we ask for. */
export const modernVersions: readonly string[] = ["2026-07-28"];

/** Newest first; the first is what we offer. */
export const legacyVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

/** Our newest version that a server's list holds. */
export function commonVersion(ours: readonly string[], theirs: unknown): string | undefined {
  return Array.isArray(theirs) ? ours.find((version) => theirs.includes(version)) : undefined;
}
