/** `fairlead secret list`: prints the names of stored secrets, never their values. */

import { joinSafe, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Verb } from "../../shell/verb.ts";
import { openStore, storeName } from "./store.ts";

export const verb: Verb = {
  help: `
Prints names only; no command prints a value. A server gets the value of a secret that its entry refers to.

Examples:
  fairlead secret list
  fairlead secret list --json`,

  async run(context) {
    const { out, globals } = context;
    const store = await openStore(context);
    const names = await store.list();
    if (globals.json) return out.json({ backend: store.backend, names });
    out.say(safe`in ${storeName(store.backend)}:`);
    if (names.length > 0) out.print(joinSafe(names.map(toSafeLine)));
    else out.say(safe`no secrets stored; next: fairlead secret set NAME`);
  },
};
