import type { ShownDifference } from "./rows.ts";
import type { ChangedDefinition } from "./servers.ts";

/** How one server of the workspace differs from its lock file. */
export interface LockRow {
  readonly server: string;
  /** `added`: not in the lock file; `removed`: only there; `unknown`: its lists were never read. */
  readonly state: "same" | "changed" | "added" | "removed" | "unknown";
  readonly differences: readonly ShownDifference[];
  readonly tools: ListChanges;
  readonly prompts: ListChanges;
}

export interface ListChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** What differs from what the person has accepted. */
export interface ChangesCommands {
  /** Tools and prompts that differ from their accepted or locked definitions. `servers/accept` accepts them. */
  "changes/list": {
    params: Record<string, never>;
    result: {
      readonly servers: readonly { readonly server: string; readonly changes: readonly ChangedDefinition[] }[];
    };
  };
  /** The workspace's servers beside its lock file. Connects no server. */
  "changes/lock": {
    params: Record<string, never>;
    result: {
      /** Absent without a workspace. */
      readonly file?: string | undefined;
      /** `ignored`: the folder is not trusted. `invalid`: `problem` says why. */
      readonly state: "none" | "read" | "ignored" | "invalid";
      readonly problem?: string | undefined;
      readonly servers: readonly LockRow[];
    };
  };
}
