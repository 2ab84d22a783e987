/** `/trust`: trusts the workspace and approves its servers, or revokes that. */

import { askTrust, reviewHere } from "../session/trust.ts";
import type { BuiltIn } from "./command.ts";
import { wordsOf } from "./words.ts";

export const trust: BuiltIn = {
  name: "trust",
  summary: "trust this folder and its servers, or revoke that",
  usage: "[add|list|remove]",
  complete: ([verb]) => (verb === undefined ? ["add", "list", "remove"].map((value) => ({ value })) : []),
  async run(line, services) {
    const { session, runVerb, settings } = services;
    const [verb = "", ...words] = wordsOf(line);
    const found = verb === "" || verb === "add" ? await reviewHere(services) : undefined;
    if (found !== undefined && (found.pending.length > 0 || (verb === "add" && found.needsTrust)))
      return askTrust(found, services);
    const shown = verb === "remove" ? "remove" : "list";
    const run = (): Promise<string> => runVerb("trust", shown, ...words);
    session.show(`/trust ${shown}`, await (shown === "remove" ? settings.change(run) : run()));
  },
};
