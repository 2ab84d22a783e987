/** `/policy`: lists, explains and adds policy rules. */

import { callName } from "../input/call-words.ts";
import type { BuiltIn } from "./command.ts";
import { wordsOf } from "./words.ts";

const verbs: ReadonlyMap<string, string> = new Map([
  ["list", "list the rules"],
  ["explain", "show which rule decides for a tool"],
  ["allow", "run a tool without confirmation"],
  ["ask", "confirm each call of a tool"],
  ["deny", "deny every call of a tool"],
]);
const changing: ReadonlySet<string> = new Set(["allow", "ask", "deny"]);

export const policy: BuiltIn = {
  name: "policy",
  summary: "show and set the rules for calls",
  usage: "[list|explain|allow|ask|deny] [SERVER.TOOL]",
  complete: ([verb], { session }) =>
    verb === undefined
      ? [...verbs].map(([value, about]) => ({ value, about }))
      : session.conversation.tools().map((tool) => ({ value: callName(tool), about: tool.description })),
  async run(line, { session, runVerb, settings }) {
    const [verb = "list", ...words] = wordsOf(line);
    const run = (): Promise<string> => runVerb("policy", verb, ...words);
    session.show(`/policy ${verb}`, await (changing.has(verb) ? settings.change(run) : run()));
  },
};
