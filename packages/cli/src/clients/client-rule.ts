/**
 * The rule that fits a client. Fairlead asks about a client's calls in addition to the client, or where the client does not ask,
 * so `connect` says who asks and offers a rule.
 */

import { userRuleFile, writeRule } from "@fairlead/core/policy";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import { type ClientName, clients } from "./client.ts";

/** The calls of a client that a rule allows: those of all tools, or of tools that only read. */
export type AllowedCalls = "all" | "read-only";

/** The values of `connect --allow`. */
export const allowChoices = ["all", "read-only", "nothing"] as const;

/**
 * The calls that the rule for a client should allow. A client that asks before each call needs no second question. For a
 * client that does not ask, only tools that change nothing may run unseen. Undefined if the client shows Fairlead's
 * question and asks none of its own, because then no rule is needed.
 */
export function fittingCalls(client: ClientName): AllowedCalls | undefined {
  const { asks, shows } = clients[client];
  if (asks) return "all";
  return shows ? undefined : "read-only";
}

/** The command that writes the rule, or removes it. */
export function ruleCommand(client: ClientName, calls: AllowedCalls, verb: "allow" | "remove" = "allow"): string {
  return `fairlead policy ${verb} --client ${client}${calls === "all" ? "" : " --read-only"} '*.*'`;
}

/** Says who asks about the client's calls, what happens without a rule, and which command writes the rule. */
export function confirmationText(client: ClientName): SafeText {
  const { asks, shows } = clients[client];
  const title = toSafeLine(clients[client].title);
  const calls = fittingCalls(client);
  const fails = safe`the first call of each tool fails and names the command that approves it (fairlead approvals)`;
  const rule = calls && safe`  to allow ${callWords(calls)}: ${toSafeLine(ruleCommand(client, calls))}`;
  if (asks && shows)
    return lines(
      safe`${title} asks you before a call, and Fairlead asks too: without a rule, both questions appear in ${title}`,
      rule,
    );
  if (asks)
    return lines(
      safe`${title} asks you before a call, and Fairlead asks too, but ${title} cannot show its question: without a rule, ${fails}`,
      rule,
    );
  if (shows)
    return safe`${title} does not ask before a call; it shows Fairlead's question at the first call of each tool`;
  return lines(
    safe`${title} does not ask before a call and cannot show Fairlead's question: without a rule, ${fails}`,
    rule,
    safe`  this rule counts for servers whose annotations you trust: fairlead.servers.NAME.trustAnnotations`,
  );
}

function lines(...texts: readonly (SafeText | undefined)[]): SafeText {
  return joinSafe(texts.filter((text) => text !== undefined));
}

/** The question whether `connect` should write the rule. */
export function ruleQuestion(client: ClientName, calls: AllowedCalls): SafeText {
  return safe`Write this rule for ${toSafeLine(clients[client].title)} (${callWords(calls)})? ${geminiNote}`;
}

/** What the user must know about a rule for one client, before or after `connect` writes it. */
export const geminiNote: SafeText = safe`Gemini CLI reads the same file and ignores the client, so the rule counts there too.`;

/** The tools that a rule allows. */
export function callWords(calls: AllowedCalls): SafeText {
  return calls === "all" ? safe`all tools of all servers` : safe`all tools that only read`;
}

/** Writes the rule into the user's policy file. Returns its file and line. */
export async function allowCalls(
  client: ClientName,
  calls: AllowedCalls,
  { locations }: Configuration,
): Promise<string> {
  const { file, line } = await writeRule(userRuleFile(locations), {
    server: "*",
    tool: "*",
    client,
    readOnly: calls === "read-only",
    decision: "allow",
  });
  return `${file}:${line}`;
}
