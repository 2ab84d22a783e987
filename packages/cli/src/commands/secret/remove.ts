/** `fairlead secret remove`: deletes a stored secret. */

import { HostError } from "@fairlead/core/errors";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { didYouMean } from "../../shell/did-you-mean.ts";
import type { Verb } from "../../shell/verb.ts";
import { openStore, storeName } from "./store.ts";

export const verb: Verb = {
  help: "\nServers whose entry refers to the secret no longer start.\n\nExample:\n  fairlead secret remove GITHUB_TOKEN",

  define: (command) => command.argument("<name>", "name from fairlead secret list"),

  async run(context) {
    const { out, globals, operands } = context;
    const [name = ""] = operands;
    const store = await openStore(context);
    if (!(await store.remove(name))) {
      const hint = didYouMean(name, await store.list());
      throw new HostError("usage", `no secret "${name}" is stored${hint}`, { next: "fairlead secret list" });
    }
    if (globals.json) return out.json({ name, removed: true, backend: store.backend });
    out.print(safe`removed "${toSafeLine(name)}" from ${storeName(store.backend)}`);
  },
};
