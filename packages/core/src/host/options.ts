/**
 * Checks the options that a program gives to `createHost()`. Every mistake is a `HostError` `usage` that names the
 * option.
 */

import { HostError } from "../errors.ts";
import { settingsSchema } from "../settings/schema/schema.ts";
import { closest } from "../text/closest.ts";
import type { HostOptions } from "./types.ts";

/** Returns what the value must be if it is wrong, else undefined. */
type Check = (value: unknown) => string | undefined;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const must =
  (what: string, isRight: (value: unknown) => boolean): Check =>
  (value) =>
    isRight(value) ? undefined : what;
const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isFunction = (value: unknown): boolean => typeof value === "function";
const isCount = (value: unknown): boolean => typeof value === "number" && value > 0;
const aFunction = must("a function", isFunction);
const aSwitch = must("true or false", (value) => typeof value === "boolean");
/** An object with these methods. */
const withMethods = (what: string, ...names: readonly string[]): Check =>
  must(what, (value) => isObject(value) && names.every((name) => isFunction(value[name])));
const pair = (value: unknown): boolean => isObject(value) && isText(value["server"]) && isText(value["tool"]);

/** The type requires one check for each option. */
const checks: { readonly [Name in keyof Required<HostOptions>]: Check } = {
  settings: must("a path or an object { mcpServers, mcp?, fairlead? }", (value) => isText(value) || isObject(value)),
  workspace: must("a path or false", (value) => isText(value) || value === false),
  trust: aSwitch,
  environment: must(
    "an object { env, home, cwd, platform }",
    (value) =>
      isObject(value) && isObject(value["env"]) && ["home", "cwd", "platform"].every((key) => isText(value[key])),
  ),
  clock: withMethods("an object with now() and after()", "now", "after"),
  debug: must("true, false or the name of a server", (value) => typeof value === "boolean" || isText(value)),
  startLimit: must("a number above 0", isCount),
  observe: aFunction,
  tokens: withMethods("an MCPOAuthTokenStorage", "getCredentials", "saveCredentials", "pinned"),
  signIn: withMethods("an object with show()", "show"),
  openBrowser: aFunction,
  confirm: aFunction,
  approvalMode: must('"default", "plan" or "yolo"', (value) => ["default", "plan", "yolo"].includes(String(value))),
  allow: must("a list of { server, tool }", (value) => Array.isArray(value) && value.every(pair)),
  interactive: aSwitch,
  elicit: aFunction,
  onUnaskable: aFunction,
  sample: aFunction,
  model: withMethods("a model, with stream()", "stream"),
  recover: aSwitch,
  watch: aSwitch,
  idleStop: must("a number of milliseconds above 0", isCount),
  today: aFunction,
};

/**
 * Checks the names and types of the options.
 *
 * @throws HostError `usage`, naming the first option that is wrong
 */
export function checkHostOptions(options: unknown): void {
  if (!isObject(options))
    throw new HostError("usage", `createHost() takes an object of options, not ${shown(options)}`);
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name as keyof HostOptions] : undefined;
    if (check === undefined) throw unknownName(`createHost() has no option "${name}"`, name, Object.keys(checks));
    const wanted = value === undefined ? undefined : check(value);
    if (wanted !== undefined)
      throw new HostError("usage", `createHost({ ${name} }) must be ${wanted}, not ${shown(value)}`);
  }
}

/**
 * Returns settings that were given as an object as JSON text, so that later changes of the object have no effect.
 *
 * @throws HostError `usage` if JSON cannot hold the settings, or if a top-level key is misspelt
 */
export function settingsText(settings: HostOptions["settings"]): string | undefined {
  if (settings === undefined || typeof settings === "string") return undefined;
  const known = Object.keys(settingsSchema.properties);
  // A key that resembles none of Fairlead's belongs to another program, as in a settings file.
  for (const key of Object.keys(settings))
    if (!known.includes(key) && closest(key, known) !== undefined)
      throw unknownName(`createHost({ settings }) has no key "${key}"`, key, known);
  try {
    return JSON.stringify(settings, null, 2);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new HostError("usage", `createHost({ settings }) cannot be written as JSON: ${why}`, { cause });
  }
}

function unknownName(message: string, name: string, known: readonly string[]): HostError {
  const near = closest(name, known);
  return new HostError("usage", near === undefined ? message : `${message}; did you mean "${near}"?`, {
    next: `Use one of: ${known.join(", ")}.`,
  });
}

/** Names the type and not the value: options can be secrets. */
function shown(value: unknown): string {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  if (value === "") return "an empty string";
  return { string: "a string", function: "a function", object: "an object" }[typeof value as string] ?? typeof value;
}
