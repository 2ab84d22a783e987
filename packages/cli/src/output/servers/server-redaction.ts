/**
 * Hides secrets in a server's entry: shows placeholders, and hides literal values and everything that looks like a
 * secret. Entries are untrusted and can be long, so every pattern here runs in linear time.
 */

import { namedValuesIn, replaceValues } from "@fairlead/core/connect/redact";
import type { Transport } from "@fairlead/core/settings/define/definition";
import { hidden } from "@fairlead/core/text/hidden-text";
import { parseJson } from "@fairlead/wire/json";
import { isTellingName, looksSecret } from "./server-secrets.ts";

const placeholder = /\$\$|\$\{[^{}]*\}|\$[A-Za-z_]\w*/g;
const scheme = /^(?:Bearer|Basic|Token|ApiKey|Bot)?$/i;

/**
 * Hides the value of a variable or header. Placeholders (without their defaults) and words like `Bearer` stay visible.
 */
export function hideLiteral(value: string): string {
  let shown = "";
  let at = 0;
  for (const { 0: found, index } of value.matchAll(placeholder)) {
    if (found === "$$") continue;
    shown += hidePart(value.slice(at, index)) + found.replace(/:-.+\}$/s, `:-${hidden}}`);
    at = index + found.length;
  }
  return shown + hidePart(value.slice(at));
}

function hidePart(literal: string): string {
  return scheme.test(literal.trim()) ? literal : hidden;
}

// Variables that make a program load code. The user must see them, so their values stay visible.
const loadsCode =
  /^(?:PATH|ENV|BASH_ENV|NODE_OPTIONS|NODE_PATH|LD_\w+|DYLD_\w+|PYTHON(?:PATH|HOME|STARTUP)|PERL5(?:LIB|OPT)|RUBY(?:LIB|OPT)|(?:_?JAVA|JDK_JAVA)_(?:TOOL_)?OPTIONS)$/;

/**
 * Hides the value of a variable. If the variable makes a program load code (such as `NODE_OPTIONS`), hides only
 * secrets.
 */
export function hideVariable(name: string, value: string): string {
  return loadsCode.test(name) ? hideInWords(value) : hideLiteral(value);
}

const path = /^(?:~|\.{0,2}\/)/;

/** Hides secrets in arguments: values after `--token`, in `KEY=…` and `Name: …`, and credentials in URLs. */
export function redactArguments(args: readonly string[]): string[] {
  return args.map((argument, at) => {
    const before = args[at - 1] ?? "";
    const isValue = before.startsWith("-") && !before.includes("=") && !argument.startsWith("-");
    return isValue && looksSecret(before, argument) && !path.test(argument) ? hidden : hideInWords(argument);
  });
}

/** Hides only the secret values in a text such as a line of code or a JSON document. */
export function hideInWords(text: string): string {
  return hideNamed(hideMembers(hideInUrl(text))).replaceAll(tellingWord, hidden);
}

/**
 * Hides the value of `"name": "value"`, also in JSON inside a JSON string. If the text is not JSON, a value that
 * may be code stays visible.
 */
function hideMembers(text: string): string {
  const isJson = parseJson(text.replace(/^[\w.-]+=/, "")) !== undefined;
  const values = namedValuesIn(text, isTellingName).filter(
    ({ value }) => !path.test(value) && (isJson || !/[\s;|&`()<>]/.test(value)),
  );
  return replaceValues(text, values, hideLiteral);
}

const assignment = /(?<![\w.-])([\w.-]+)(\s*=\s*|\s*:\s*)/g;
const assigned = /^(?:(?:Bearer|Basic|Token|ApiKey|Bot)\s+)?[^\s;|&]+/i;

/** Hides the value of `NAME=value` at any place, and of `Name: value` at the start of the text. */
function hideNamed(text: string): string {
  let shown = "";
  let end = 0;
  for (const { 0: all, 1: name = "", 2: between = "", index } of text.matchAll(assignment)) {
    const isHeader = between.includes(":");
    if (index < end || (isHeader && index > 0) || !isTellingName(name)) continue;
    const start = index + all.length;
    const value = assigned.exec(text.slice(start))?.[0] ?? "";
    if (path.test(value)) continue;
    shown += text.slice(end, start) + hideLiteral(value);
    end = start + value.length;
  }
  return shown + text.slice(end);
}

// Keys of well-known services, and PEM keys. The patterns require many characters, so that no package name matches.
const tellingWord = new RegExp(
  [
    String.raw`(?<=^|[\s=:"'])(?:(?:sk|pk|rk)[-_][\w-]{16}|gh[pousr]_\w|github_pat_|glpat-|xox[abeprs]-|AKIA[0-9A-Z]{8}|AIza[\w-]{8}|npm_\w{20}|eyJ[\w-]+\.)[^\s;|&"']*`,
    String.raw`(?<=^|[\s=:"'])(?:Bearer|Basic)[ \t]{1,9}[^\s;|&"']+`,
    "-----BEGIN[A-Z ]{0,40}-----[A-Za-z0-9+/=\\s]*",
  ].join("|"),
  "g",
);

/** Hides the password and secret-looking parameters of a URL. */
export function hideInUrl(text: string): string {
  return text
    .replaceAll(/(\w:\/\/)([^/?#@\s]*)@/g, (_all, start: string, account: string) => `${start}${hideAccount(account)}@`)
    .replaceAll(/([?&])([^=&#?\s]+)=([^&#\s;|]*)/g, (all, start: string, name: string, value: string) =>
      looksSecret(name, value) ? `${start}${name}=${hidden}` : all,
    );
}

function hideAccount(account: string): string {
  const [user = "", ...password] = account.split(":");
  return password.length === 0 ? hideLiteral(user) : `${user}:${hideLiteral(password.join(":"))}`;
}

/** Returns the transport with secrets in arguments, variables, headers and the URL hidden. */
export function redact(transport: Transport): Transport {
  if (transport.kind === "stdio")
    return { ...transport, args: redactArguments(transport.args), env: hideValues(transport.env, hideVariable) };
  const headers = hideValues(transport.headers, (_name, value) => hideLiteral(value));
  return { ...transport, url: hideInUrl(transport.url), headers };
}

function hideValues(
  values: ReadonlyMap<string, string>,
  hide: (name: string, value: string) => string,
): ReadonlyMap<string, string> {
  return new Map([...values].map(([name, value]) => [name, hide(name, value)]));
}
