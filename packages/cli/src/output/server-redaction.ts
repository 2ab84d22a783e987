/** What may be seen of a server's entry: placeholders are shown, literal values and whatever looks like a secret are not. */

import type { Transport } from "@fairlead/core/settings/definition";
import { hidden, looksSecret, secretHints } from "./server-secrets.ts";

const placeholder = /\$\$|\$\{[^}]*\}|\$[A-Za-z_]\w*/g;
const scheme = /^\s*(Bearer|Basic|Token|ApiKey|Bot)?\s*$/i;

/** The value of a variable or header: placeholders (without their defaults) and the word before a credential stay. */
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
  return scheme.test(literal) ? literal : hidden;
}

/** Arguments as they may be listed: what follows `--token`, `KEY=…`, `Name: …` and credentials in addresses are hidden. */
export function hideInArguments(args: readonly string[]): string[] {
  return args.map((argument, at) => {
    const before = args[at - 1] ?? "";
    const isValue = before.startsWith("-") && !before.includes("=") && !argument.startsWith("-");
    return isValue && looksSecret(before, argument) ? hidden : hideInArgument(argument);
  });
}

function hideInArgument(argument: string): string {
  const [, name = "", between = "", value = ""] = /^([\w.-]+)(\s*[=:]\s*)(.+)$/s.exec(argument) ?? [];
  if (!value.startsWith("//") && looksSecret(name, value)) return `${name}${between}${hideLiteral(value)}`;
  return looksSecret("", argument) ? hidden : hideInUrl(argument);
}

/** An address without its password and without the values of secret-looking parameters. */
export function hideInUrl(text: string): string {
  return text
    .replace(/(\w:\/\/)([^/?#@\s]*)@/, (_all, start: string, account: string) => `${start}${hideAccount(account)}@`)
    .replaceAll(/([?&])([^=&#]+)=([^&#]*)/g, (all, start: string, name: string, value: string) =>
      looksSecret(name, value) ? `${start}${name}=${hidden}` : all,
    );
}

function hideAccount(account: string): string {
  const [user = "", ...password] = account.split(":");
  return password.length === 0 ? hideLiteral(user) : `${user}:${hideLiteral(password.join(":"))}`;
}

/** The same transport, fit to be shown. */
export function redact(transport: Transport): Transport {
  if (transport.kind === "stdio")
    return { ...transport, args: hideInArguments(transport.args), env: hideValues(transport.env) };
  return { ...transport, url: hideInUrl(transport.url), headers: hideValues(transport.headers) };
}

function hideValues(values: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...values].map(([name, value]) => [name, hideLiteral(value)]));
}

/** Whether an entry, as it lies in a file, has something in it that is not for a log. */
export function holdsSecret(entry: Readonly<Record<string, unknown>>): boolean {
  const args = Array.isArray(entry["args"]) ? entry["args"].map(String) : [];
  const urls = [entry["url"], entry["httpUrl"]].map((url) => (typeof url === "string" ? url : ""));
  return (
    secretHints(entry).length > 0 ||
    hideInArguments(args).some((shown, at) => shown !== args[at]) ||
    urls.some((url) => hideInUrl(url) !== url)
  );
}
