/** Errors for requests that are denied, not confirmed, or stopped by a changed definition. */

import { HostError } from "../errors.ts";
import { toShellWord } from "../text/shell-word.ts";
import type { Pair, PolicyRequest } from "./decide.ts";
import { isChangedRule } from "./rules/built-in-rules.ts";
import type { Decision } from "./rules/rule.ts";
import { ruleText } from "./rules/rule-text.ts";

/** Makes the error for a decision that does not let the request run. */
export function refusal(request: PolicyRequest, { decision, rule, over }: Decision): HostError {
  const { serverName } = request;
  if (isChangedRule(rule)) return changed(request);
  const why = ruleText(rule);
  const instead = over === undefined ? "" : ` (without that, ${ruleText(over)})`;
  const message =
    decision === "deny"
      ? `${nameOf(request)} may not ${verbOf(request)}: ${why}${instead}`
      : `${nameOf(request)} needs a yes first: ${why}`;
  return new HostError("denied", message, { serverName, next: nextStep(request) });
}

/** Makes the error for a definition that differs from the accepted or locked one. */
export function changed({ serverName, serverToolName, kind }: PolicyRequest): HostError {
  if (kind === "prompt") {
    const message = `the prompt ${serverToolName} of "${serverName}" is not what the lock file has`;
    return new HostError("changed", message, { serverName, next: "fairlead lock verify" });
  }
  const message = `${serverName}.${serverToolName} is no longer what was shown: the server has changed its definition`;
  return new HostError("changed", message, {
    serverName,
    next: `Look at it (fairlead tools ${toShellWord(serverName)}), then accept it: fairlead call ${toShellWord(`${serverName}.${serverToolName}`)} asks, --yes answers.`,
  });
}

/** Makes the error for a call whose arguments the user has not confirmed. */
export function notConfirmed({ serverName, serverToolName }: Pair): HostError {
  return new HostError("denied", `${serverName}.${serverToolName} was not confirmed with these arguments`, {
    serverName,
    next: `Ask first, or allow it: fairlead policy allow ${toShellWord(`${serverName}.${serverToolName}`)}`,
  });
}

function nameOf({ serverName, serverToolName, kind = "tool" }: PolicyRequest): string {
  switch (kind) {
    case "tool":
      return `${serverName}.${serverToolName}`;
    case "resource":
      return `${serverToolName} of "${serverName}"`;
    case "prompt":
      return `the prompt ${serverToolName} of "${serverName}"`;
    case "sampling":
      return `a request of "${serverName}" for the model`;
  }
}

function verbOf({ kind = "tool" }: PolicyRequest): string {
  switch (kind) {
    case "tool":
      return "run";
    case "resource":
      return "be read";
    case "prompt":
      return "be used";
    case "sampling":
      return "be answered";
  }
}

function nextStep({ serverName, serverToolName, kind = "tool" }: PolicyRequest): string {
  return kind === "tool"
    ? `fairlead policy explain ${toShellWord(`${serverName}.${serverToolName}`)}`
    : "fairlead policy list";
}
