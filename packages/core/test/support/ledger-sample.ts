/** A call as a host tells the ledger of it. */

import type { LedgerRecord } from "../../src/policy/ledger/ledger.ts";

export const called: LedgerRecord = {
  server: "files",
  tool: "read",
  kind: "tool",
  arguments: { path: "/etc/passwd", deep: { b: 1, a: 2 } },
  decision: "allow",
  rule: "typed by a person",
  ruleOrigin: { source: "built_in", name: "typed" },
  mode: "default",
  outcome: "ok",
  durationMs: 12,
};
