/** Writes entries into a ledger of small files, one after the other: `write-ledger FOLDER NAME COUNT`. */

import { createLedger } from "../../../src/policy/ledger/ledger.ts";
import { called } from "../ledger-sample.ts";

const [folder = "", name = "", count = "1"] = process.argv.slice(2);
const limits = { fileBytes: 4000, files: 1000 };
const ledger = createLedger({ folder, keepArguments: () => false, now: Date.now, limits });
for (let index = 0; index < Number(count); index += 1)
  await ledger.write({ ...called, server: name, tool: `${name}-${index}` });
