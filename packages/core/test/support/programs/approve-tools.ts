/** Saves approvals of tools, one after the other: `approve-tools STATE PREFIX COUNT`. */

import { saveToolApproval } from "../../../src/policy/approvals.ts";

const [state = "", prefix = "", count = "1"] = process.argv.slice(2);
for (let index = 0; index < Number(count); index += 1)
  await saveToolApproval(
    state,
    { server: "s", fingerprint: "f" },
    { name: `${prefix}${index}`, inputSchema: {} },
    new Date(index),
  );
