/** Errors for requests that are denied, not confirmed, or stopped by a changed definition. */

import { HostError } from "../errors.ts";
import { toShellWord } from "../text/shell-word.ts";
import { mayHaveChanged } from "./confirmation.ts";
import type { PolicyRequest } from "./decide.ts";
import { builtIn, isAcrossRule, isChangedRule, isUnsavedRule } from "./rules/built-in-rules.ts";
import type { Decision, PolicyRule } from "./rules/rule.ts";
import { correction, ruleText } from "./rules/rule-text.ts";

/**
 * Creates the error for a request that the decision does not allow.
 *
 * @param unkept Why the catalog cache cannot keep a changed definition.
 */
export function refusal(request: PolicyRequest, { decision, rule, over }: Decision, unkept?: string): HostError {
  const { serverName } = request;
  if (isUnsavedRule(rule)) return mayHaveChanged(serverName, nameOf(request), rule.denyMessage ?? "");
  if (isChangedRule(rule)) return changed(request, unkept);
  if (rule === builtIn.headless) return noTerminal(request, over);
  if (isAcrossRule(rule)) return across(request, rule);
  if (decision === "ask_user" && request.client !== undefined) return noUserToAsk(request, rule);
  const message = `${nameOf(request)} ${decision === "deny" ? "denied" : "needs confirmation"}: ${ruleText(rule)}`;
  return new HostError("denied", message, { serverName, next: correction(rule) ?? explainStep(request) });
}

/**
 * Creates the error for a request that needs confirmation, if there is no terminal to ask on. If a default rule asks,
 * the next step is `--allow` or `policy allow`. If an explicit rule asks, the next step is to look at that rule.
 */
function noTerminal(request: PolicyRequest, rule: PolicyRule | undefined): HostError {
  const { serverName, kind = "tool", client } = request;
  const isExplicit = rule?.decision === "ask_user" && rule.tier !== "default";
  const why = isExplicit ? ruleText(rule) : "it needs confirmation";
  const isAllowable = rule?.decision === "ask_user" && !isExplicit;
  const allow = `fairlead policy allow ${policySubject(request)}`;
  const step = kind === "tool" && client === undefined ? `add --allow ${policySubject(request)}, or: ${allow}` : allow;
  return new HostError("denied", `${nameOf(request)} denied: ${why} and there is no terminal to ask on`, {
    serverName,
    next: isAllowable ? step : ((rule && correction(rule)) ?? explainStep(request)),
  });
}

/** Creates the error for a definition that differs from the accepted definition or from the lock file. */
export function changed(request: PolicyRequest, unkept?: string): HostError {
  const { serverName, serverToolName, kind } = request;
  if (kind === "prompt") {
    const message = `${nameOf(request)} changed: it differs from the lock file`;
    return new HostError("changed", message, { serverName, next: "fairlead lock verify" });
  }
  if (kind === "skill") {
    const message = `${nameOf(request)} changed: its files differ from the accepted ones`;
    const next = `fairlead skills show ${toShellWord(`${serverName}/${serverToolName}`)} (shows the change and asks whether to accept it; --yes accepts it)`;
    return new HostError("changed", message, { serverName, next });
  }
  if (kind === "resource") {
    const message = `${nameOf(request)} changed: this view of a tool differs from the accepted one`;
    return new HostError("changed", message, { serverName, next: "open the view again, and answer the question" });
  }
  const tool = `${serverName}.${serverToolName}`;
  const message = `${tool} changed: its definition differs from the accepted one`;
  return new HostError("changed", unkept === undefined ? message : `${message}; ${unkept}`, {
    serverName,
    next: `fairlead call ${toShellWord(tool)} (shows the change and asks whether to accept it; --yes accepts it)`,
  });
}

/**
 * Creates the error for a request that did not run, because the tool's definition or the server's settings changed
 * while the user read the question. The user's answer was about the earlier version.
 */
export function changedWhileAsked(request: PolicyRequest, { rule }: Decision): HostError {
  const { serverName, who, client, kind = "tool" } = request;
  const what = isChangedRule(rule) ? "its definition" : `the settings of "${serverName}"`;
  const message = `${nameOf(request)} did not run: ${what} changed while you were asked`;
  const repeat =
    client !== undefined
      ? "send the request again"
      : who === "user"
        ? `repeat the ${verbs[kind]}`
        : "ask the model again";
  return new HostError("changed", message, { serverName, next: `${repeat}; Fairlead shows the change and asks again` });
}

const verbs = {
  tool: "call",
  prompt: "prompt",
  resource: "read",
  sampling: "request",
  skill: "load",
  host: "connection",
} as const;

/** Creates the error for a call whose arguments the user has not confirmed. */
export function notConfirmed(request: PolicyRequest): HostError {
  const { serverName, kind } = request;
  const what = kind === "skill" ? "it" : "these arguments";
  return new HostError("denied", `${nameOf(request)} denied: the user has not confirmed ${what}`, {
    serverName,
    next: `Confirm the call first, or: fairlead policy allow ${policySubject(request)}`,
  });
}

/** Creates the error for a client's request that needs confirmation, if the gateway has no way to ask. */
function noUserToAsk(request: PolicyRequest, rule: PolicyRule): HostError {
  const { serverName, client = "" } = request;
  const message = `${nameOf(request)} denied: it needs confirmation, and "${client}" cannot ask the user (${ruleText(rule)})`;
  const next = correction(rule) ?? `fairlead policy allow ${policySubject(request)}`;
  return new HostError("denied", message, { serverName, next });
}

/** Creates the error for a read that a skill of another server may have caused. No rule can allow it. */
function across(request: PolicyRequest, rule: PolicyRule): HostError {
  const { serverName, client } = request;
  return new HostError("denied", `${nameOf(request)} denied: ${rule.denyMessage}`, {
    serverName,
    next: client === undefined ? "fairlead (the app asks about each such read)" : "fairlead approvals",
  });
}

function nameOf({ serverName, serverToolName, kind = "tool" }: PolicyRequest): string {
  switch (kind) {
    case "tool":
      return `${serverName}.${serverToolName}`;
    case "resource":
      return `resource ${serverToolName} of "${serverName}"`;
    case "prompt":
      return `prompt ${serverToolName} of "${serverName}"`;
    case "sampling":
      return `sampling request of "${serverName}"`;
    case "skill":
      return `skill ${serverToolName} of "${serverName}"`;
    case "host":
      return `host ${serverToolName} for "${serverName}"`;
  }
}

function explainStep(request: PolicyRequest): string {
  return `fairlead policy explain ${policySubject(request)}`;
}

/** Writes the request as the argument of a `fairlead policy` command, with `--client` and `--kind` if needed. */
export function policySubject({
  serverName,
  serverToolName,
  kind = "tool",
  client,
}: Pick<PolicyRequest, "serverName" | "serverToolName" | "kind" | "client">): string {
  const word = toShellWord(serverToolName === "" ? serverName : `${serverName}.${serverToolName}`);
  const options = [
    ...(client === undefined ? [] : [`--client ${toShellWord(client)}`]),
    ...(kind === "tool" ? [] : [`--kind ${kind}`]),
  ];
  return [...options, word].join(" ");
}
