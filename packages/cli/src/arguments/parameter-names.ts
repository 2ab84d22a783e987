/** Checks typed arguments for unknown and missing parameter names before a call. Pure functions. */

import { HostError } from "@fairlead/core/errors";
import { resolved } from "@fairlead/core/normalise/schema/pointer";
import { parametersOf } from "@fairlead/core/normalise/schema/properties";
import { closest } from "@fairlead/core/text/closest";
import { isObject, member } from "@fairlead/wire/json";
import { type SignedTool, signature } from "../output/tools/signature.ts";

/**
 * Returns warnings about unknown parameter names. `what` is the tool's name in messages.
 *
 * @throws HostError `arguments_invalid` if a required parameter is missing, or the schema forbids an unknown name
 */
export function checkParameterNames(what: string, tool: SignedTool, args: unknown): readonly string[] {
  if (!isObject(args)) return [];
  const parameters = parametersOf(tool.inputSchema);
  const parameterNames = parameters.map(({ name }) => name);
  const unknown = Object.keys(args).filter((name) => !parameterNames.includes(name));
  const missing = parameters.flatMap(({ name, required }) => (required && !Object.hasOwn(args, name) ? [name] : []));
  const policy = extrasOf(tool.inputSchema);
  if (policy === "forbidden" && unknown.length > 0)
    throw mistaken(`${what} has no parameter ${named(unknown, parameterNames)}`, tool);
  if (missing.length > 0) {
    const typed =
      policy !== "welcome" && unknown.length > 0
        ? `; it has no parameter ${named(unknown, [...missing, ...parameterNames])}`
        : "";
    throw mistaken(`${what} needs ${missing.map(quoted).join(", ")}${typed}`, tool);
  }
  if (policy !== "unsaid") return [];
  return unknown.map((name) => {
    const near = nearest(name, parameterNames);
    const suggestion = near === undefined ? "" : ` (did you mean ${quoted(near)}?)`;
    return `${what} has no parameter ${quoted(name)}${suggestion}; Fairlead sends the argument anyway`;
  });
}

/**
 * Whether the schema allows names that are not in `properties`. `welcome`: yes, or only a full validation can tell.
 * `unsaid`: the schema says nothing about them.
 */
type Extras = "forbidden" | "welcome" | "unsaid";

function extrasOf(inputSchema: unknown): Extras {
  const schema = resolved(inputSchema, inputSchema);
  const said = ["additionalProperties", "unevaluatedProperties"].map((keyword) => member(schema, keyword));
  const isPlain = ["allOf", "anyOf", "oneOf", "patternProperties"].every(
    (keyword) => member(schema, keyword) === undefined,
  );
  // With `allOf` or a similar keyword, only a full validation can tell whether an unknown name is allowed.
  if (said.includes(false)) return isPlain ? "forbidden" : "welcome";
  return isPlain && said.every((one) => one === undefined) && isObject(member(schema, "properties"))
    ? "unsaid"
    : "welcome";
}

function named(names: readonly string[], parameterNames: readonly string[]): string {
  const near = names.map((name) => nearest(name, parameterNames)).find((name) => name !== undefined);
  return `${names.map(quoted).join(", ")}${near === undefined ? "" : `; did you mean ${quoted(near)}?`}`;
}

/** Finds the parameter that a mistyped name probably means. Also recognises abbreviations such as `lang` and `msg`. */
function nearest(name: string, parameterNames: readonly string[]): string | undefined {
  const starts = (longer: string): boolean => name.length > 1 && longer.startsWith(name);
  return (
    closest(name, parameterNames) ??
    parameterNames.find(starts) ??
    parameterNames.find((longer) => isShortFor(name, longer))
  );
}

/** Whether `name` abbreviates `longer`: same first letter, and `longer` has all letters of `name` in the same order. */
function isShortFor(name: string, longer: string): boolean {
  let at = 0;
  for (const letter of longer) if (letter === name[at]) at += 1;
  return name.length > 1 && name[0] === longer[0] && at === name.length;
}

function quoted(name: string): string {
  return `"${name}"`;
}

function mistaken(message: string, tool: SignedTool): HostError {
  return new HostError("arguments_invalid", message, { next: `match the signature: ${signature(tool)}` });
}
