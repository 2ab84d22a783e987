/** Tells the model about a failed call: first a sentence by Fairlead, then the details, marked as untrusted. Pure. */

import { errorMessage } from "@fairlead/wire/text";
import { type ErrorCode, HostError } from "../errors.ts";
import { toLabel } from "../normalise/content/shorten.ts";
import { asUntrusted, createNonce } from "../normalise/content/untrusted.ts";
import { DeclinedCall } from "../policy/confirmation.ts";
import { toolSignature } from "../search/tool-signature.ts";
import type { RegisteredTool } from "../server/registered-tool.ts";
import { closest } from "../text/closest.ts";
import { toModelText } from "../text/model-text.ts";
import { exceedsTokens } from "../text/token-estimate.ts";
import type { CallFailure } from "./events.ts";
import type { Named } from "./tools/conversation-tools.ts";

const ours: Partial<Readonly<Record<ErrorCode, string>>> = {
  denied: "The call was not allowed and did not run.",
  awaiting_approval: "The call was not allowed and did not run.",
  untrusted_folder: "The call was not allowed and did not run.",
  changed: "The call did not run: the definition of the tool, or the files of the skill, have changed.",
  arguments_invalid: "The call did not run: its arguments are invalid.",
  call_timeout: "There was no answer in time: the call may or may not have had its effect.",
  lost: "The connection was lost before the server answered: the call may or may not have had its effect.",
};

/** Returns the error itself if it is a `HostError`, otherwise a `HostError` `internal`. */
export function toHostError(error: unknown): HostError {
  if (error instanceof HostError) return error;
  const words = errorMessage(error);
  return new HostError("internal", `internal error of the host: ${words}`, { cause: error });
}

/**
 * Returns the text that tells the model why a call failed. If the arguments are wrong, the text contains the tool's
 * parameters.
 */
export function tellFailure(error: HostError, tool?: RegisteredTool): string {
  const { code, message } = error;
  // The user's own words are no untrusted text.
  if (error instanceof DeclinedCall && error.because !== undefined)
    return `The call did not run: the user declined it and says: ${toModelText(error.because)}`;
  const what = ours[code] ?? "The call failed.";
  const reason = [{ text: `${code}: ${toLabel(message)}` }];
  if (code === "arguments_invalid" && tool !== undefined) reason.push({ text: aboutParameters(tool) });
  return [what, ...asUntrusted(reason, createNonce(), "the reason").map(({ text }) => text)].join("\n");
}

/** An error message contains at most this many tokens of a tool's schema. */
const mostTokens = 4_000;

/** Describes a tool's parameters in an error message, because the model may not have seen the tool's full schema. */
function aboutParameters({ name, schema: { description, parametersJsonSchema: parameters } }: RegisteredTool): string {
  const whole = JSON.stringify(parameters);
  const about = exceedsTokens([whole], mostTokens) ? toolSignature({ name, description, parameters }) : whole;
  return `parameters of ${toLabel(name)}: ${toModelText(about)}`;
}

/** Converts an error to the failure that the user sees. */
export function toCallFailure({ code, message, next }: HostError): CallFailure {
  return { code, message, next };
}

const refusals: ReadonlySet<ErrorCode> = new Set(["denied", "changed", "awaiting_approval", "untrusted_folder"]);

/** Returns the final status of a failed call. */
export function statusOf({ code }: HostError): "denied" | "cancelled" | "error" {
  if (refusals.has(code)) return "denied";
  return code === "cancelled" ? "cancelled" : "error";
}

/** Fairlead suggests at most this many similar tool names to a model. */
const mostNames = 3;

/** Tells the model that no tool has this name, or why the tool cannot be called. Suggests similar names. */
export function explainUnknown(name: string, why: string | undefined, callables: readonly Named[]): string {
  const what =
    why === undefined ? `there is no tool "${toLabel(name)}"` : `"${toLabel(name)}" cannot be called: ${toLabel(why)}`;
  const near = nearNames(name, callables);
  return near.length === 0 ? what : `${what}; similar: ${near.join(", ")}`;
}

/** Returns similar tool names. Also accepts the server's own name for a tool: `tool` or `server.tool`. */
function nearNames(wanted: string, callables: readonly Named[]): readonly string[] {
  const meant = callables.filter(
    ({ server = "", serverToolName = "" }) =>
      wanted === serverToolName || [".", "__", "_", "/", ":"].some((sign) => wanted === server + sign + serverToolName),
  );
  const near = meant.map(({ name }) => name);
  const others = new Set(callables.map(({ name }) => name));
  for (let found = closest(wanted, others); found !== undefined && near.length < mostNames; ) {
    others.delete(found);
    near.push(found);
    found = closest(wanted, others);
  }
  return [...new Set(near)].slice(0, mostNames);
}
