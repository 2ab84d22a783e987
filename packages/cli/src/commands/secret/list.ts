/** `fairlead secret list`: the names of what is stored; values are never printed. */

import { joinSafe, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Verb } from "../../shell/verb.ts";
import { openStore, storeName } from "./store.ts";

export const verb: Verb = {
  define(command) {
    command.addHelpText(
      "after",
      `
Prints names only. Nothing prints a value: it can be replaced or removed, and it reaches the servers that mention it.

Examples:
  fairlead secret list
  fairlead secret list --json`,
    );
  },

  async run(context) {
    const { out, globals } = context;
    const store = await openStore(context);
    const names = await store.list();
    if (globals.json) return out.json({ backend: store.backend, names });
    out.say(safe`in ${storeName(store.backend)}:`);
    if (names.length > 0) out.print(joinSafe(names.map(toSafeLine)));
    else out.say(safe`nothing is stored; fairlead secret set NAME stores a secret`);
  },
};
