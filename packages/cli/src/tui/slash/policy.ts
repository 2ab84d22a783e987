/** `/policy`, `/trust` and `/history`: show and change what may run, through the shell commands of the same names. */

import { callName } from "../input/call-words.ts";
import { askTrust, reviewHere } from "../session/trust.ts";
import { type BuiltIn, wordsOf } from "./command.ts";

const verbs: ReadonlyMap<string, string> = new Map([
  ["list", "list the rules"],
  ["explain", "show which rule decides for a tool"],
  ["allow", "run a tool without confirmation"],
  ["ask", "confirm each call of a tool"],
  ["deny", "deny every call of a tool"],
]);
const changing: ReadonlySet<string> = new Set(["allow", "ask", "deny"]);

/** `/policy`: lists, explains and adds policy rules. */
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

/** `/trust`: trusts the workspace and approves its servers, or revokes that. */
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

/** `/history`: the last calls, with the rule that decided each. */
export const history: BuiltIn = {
  name: "history",
  summary: "show recent calls and the rules that decided them",
  usage: "[--server NAME] [--denied] [--since 1d]",
  complete: () => ["--server", "--tool", "--since", "--denied", "--limit"].map((value) => ({ value })),
  async run(words, { session, runVerb }) {
    session.show("/history", await runVerb("history", "--limit", "20", ...wordsOf(words)));
  },
};
