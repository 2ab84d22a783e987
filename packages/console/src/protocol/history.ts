import type { LedgerEntry } from "@fairlead/core/policy";

/** Reads the history, newest first. */
export interface HistoryCommands {
  "history/list": {
    params: {
      /** Return entries older than this one. */
      readonly before?: string | undefined;
      readonly limit?: number | undefined;
      readonly server?: string | undefined;
      readonly client?: string | undefined;
      /** Words that must occur in server, name, rule or outcome. */
      readonly search?: string | undefined;
      readonly outcome?: "ok" | "failed" | "denied" | undefined;
    };
    result: {
      readonly entries: readonly (LedgerEntry & { readonly id: string })[];
      readonly next?: string | undefined;
    };
  };
}
