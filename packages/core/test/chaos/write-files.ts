/** Writes again and again until it is killed, and one dot after each write: `write-files settings|state|ledger FOLDER`. */

import { writeSync } from "node:fs";
import { join } from "node:path";
import { updateText } from "../../src/files/atomic/update-text.ts";
import { saveToolApproval } from "../../src/policy/approvals.ts";
import { createLedger } from "../../src/policy/ledger/ledger.ts";
import { largeText } from "../support/large-text.ts";
import { called } from "../support/ledger-sample.ts";

/** The name of the tool in the write with this index. */
export const saved = (index: number): string => `tool-${index}`;

/** Resolves when the write with this index is done. */
function writerOf(subject: string, folder: string): (index: number) => Promise<unknown> {
  const ledger = createLedger({ folder, keepArguments: () => false, now: Date.now });
  const file = join(folder, "settings.json");
  const approve = (index: number): Promise<unknown> =>
    saveToolApproval(
      folder,
      { server: "s", fingerprint: "f" },
      { name: saved(index), inputSchema: {} },
      new Date(index),
    );
  if (subject === "settings") return (index) => updateText(file, () => largeText(index + 1));
  return subject === "state" ? approve : (index) => ledger.write({ ...called, tool: saved(index) });
}

const [, , subject, folder] = process.argv;
// The tests import this file for the names, and do not run it.
if (subject === "settings" || subject === "state" || subject === "ledger") {
  const write = writerOf(subject, folder ?? "");
  for (let index = 0; ; index += 1) {
    await write(index);
    writeSync(1, ".");
  }
}
