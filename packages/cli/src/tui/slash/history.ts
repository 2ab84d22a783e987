/** `/history`: the last calls, with the rule that decided each. */

import type { BuiltIn } from "./command.ts";
import { wordsOf } from "./words.ts";

const most = "20";

export const history: BuiltIn = {
  name: "history",
  summary: "show recent calls and the rules that decided them",
  usage: "[--server NAME] [--denied] [--since 1d]",
  complete: () => ["--server", "--tool", "--since", "--denied", "--limit"].map((value) => ({ value })),
  async run(words, { session, runVerb }) {
    // A request that has just ended is shown too.
    await session.host.flushHistory();
    const text = await runVerb("history", "--limit", most, ...wordsOf(words));
    session.show("/history", text);
  },
};
