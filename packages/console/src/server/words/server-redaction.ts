/**
 * Hides secrets in a server's entry: shows placeholders, and hides literal values and everything that looks like a
 * secret. Entries are untrusted and can be long, so every pattern here runs in linear time.
 */

import { isDeepStrictEqual } from "node:util";
import { namedValuesIn, replaceValues } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { hidden } from "@fairlead/core/plain-text";
import { entrySchema, type Transport } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import { objectOf, parseJson } from "@fairlead/wire/json";
import { runsCode } from "./server-notes.ts";

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

// Variables that make a program load code, or lead to where it comes from. The user must see them, so their values stay visible.
const loadsCode =
  /^(?:PATH|ENV|BASH_ENV|NODE_OPTIONS|NODE_PATH|LD_\w+|DYLD_\w+|PYTHON(?:PATH|HOME|STARTUP)|PERL5(?:LIB|OPT)|RUBY(?:LIB|OPT)|(?:_?JAVA|JDK_JAVA)_(?:TOOL_)?OPTIONS|npm_config_(?:registry|noproxy))$/;

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

// Hides secrets in a settings entry that has not been validated.

type Entry = Readonly<Record<string, unknown>>;

/** Returns the entry with literal secrets and values of unknown keys hidden. */
export function redactEntry(entry: Entry): Entry {
  return mapValues(entry, (key, value) => {
    if (!Object.hasOwn(entrySchema.properties, key)) return hideUnknown(value);
    if (key === "args") return Array.isArray(value) ? redactArguments(value.map(String)) : value;
    if (key === "env") return mapTexts(value, hideVariable);
    if (key === "headers") return mapTexts(value, (_name, text) => hideLiteral(text));
    if (key === "oauth") return mapTexts(value, (name, text) => (name === "clientSecret" ? hideLiteral(text) : text));
    return typeof value === "string" ? hideInUrl(value) : value;
  });
}

/** Whether the entry contains a value that `redactEntry` hides. */
export function holdsSecret(entry: Entry): boolean {
  return !isDeepStrictEqual(redactEntry(entry), entry);
}

/**
 * Returns the entry as it is shown before an import. Code in arguments stays visible, even if it contains a secret: the
 * user must see which code would run.
 */
export function previewEntry(entry: Entry): Entry {
  const { command, args } = entry;
  if (!Array.isArray(args)) return redactEntry(entry);
  const written = args.map(String);
  const listed = redactArguments(written);
  const shown = runsCode(String(command), written)
    ? written
    : written.map((argument, at) => (isOneWord(argument) ? (listed[at] ?? "") : hideInWords(argument)));
  return { ...redactEntry(entry), args: shown };
}

function isOneWord(text: string): boolean {
  return !/[\s;|&`()<>]/.test(text);
}

/** Hides the value of an unknown key, because the value may be a secret. */
function hideUnknown(value: unknown): unknown {
  return typeof value === "boolean" || value === null ? value : hidden;
}

function mapTexts(values: unknown, show: (name: string, text: string) => string): unknown {
  if (typeof values !== "object" || values === null) return values;
  return mapValues(values, (name, value) => (typeof value === "string" ? show(name, value) : hideInner(value)));
}

/** Hides a value, except lists (such as scopes) and booleans, which are not secrets. */
function hideInner(value: unknown): unknown {
  return Array.isArray(value) ? value : hideUnknown(value);
}

function mapValues(values: object, change: (key: string, value: unknown) => unknown): Entry {
  return Object.fromEntries(Object.entries(values).map(([key, value]: [string, unknown]) => [key, change(key, value)]));
}

// Finds literal secrets in an entry, and secrets that settings refer to but that are not stored.

const tellingName =
  /token|secret|passw|pwd$|api[-_]?key|access[-_]?key|private[-_]?key|[-_]key$|^key$|credential|authorization|cookie|[-_]auth$|[-_]pat$|^auth/i;
// Names that contain a word such as "key" or "token", but whose values are not secrets.
const harmlessName =
  /(type|method|mode|scheme|url|uri|limit|budget|file|path|dir|name|length|expiry|ttl)$|max[-_]?tokens/i;
// Prefixes of keys of well-known services, signed tokens, and PEM keys.
const tellingValue =
  /^(Bearer\s+|Basic\s+|Token\s+)?((sk|pk|rk)[-_]\w|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA[0-9A-Z]|AIza|npm_\w{20}|eyJ[\w-]+\.|-----BEGIN)|^(Bearer|Basic)\s+\S/i;
const reference = /\$(?!\$)(\{|[A-Za-z_])/;

/** Whether a variable, header or option has a literal secret as its value. */
export function looksSecret(name: string, value: string): boolean {
  // `$$` stands for a dollar sign. Any other `$NAME` refers to a value that is stored elsewhere.
  if (value === "" || reference.test(value.replaceAll("$$", ""))) return false;
  return isTellingName(name) || tellingValue.test(value);
}

/** Whether the name suggests that the value is a secret, such as `API_KEY`. */
export function isTellingName(name: string): boolean {
  return tellingName.test(name) && !harmlessName.test(name);
}

/** A literal secret in an entry, and the suggested name for it in the secret store. */
interface SecretHint {
  /** Where the secret is in the entry, for example `env.GITHUB_TOKEN`, or `url (its password)`. */
  readonly key: string;
  /** The name under which the secret should be stored. */
  readonly secret: string;
}

/** Returns the literal secrets in `env`, `headers`, `oauth` and the URLs of an entry. */
export function secretHints(entry: Readonly<Record<string, unknown>>): SecretHint[] {
  const named = ["env", "headers", "oauth"].flatMap((key) => {
    const values = entry[key];
    return Object.entries(objectOf(values)).flatMap(([name, value]: [string, unknown]) =>
      typeof value === "string" && looksSecret(name, value)
        ? [{ key: `${key}.${name}`, secret: secretName(name) }]
        : addressHints(`${key}.${name}`, value),
    );
  });
  return [...named, ...["url", "httpUrl"].flatMap((key) => addressHints(key, entry[key]))];
}

function addressHints(key: string, address: unknown): readonly SecretHint[] {
  if (typeof address !== "string") return [];
  const [, password = ""] = /^[\w+.-]+:\/\/[^/?#:@]*:([^/?#@]*)@/.exec(address) ?? [];
  const parameters = [...address.matchAll(/[?&]([^=&#?\s]+)=([^&#\s]*)/g)]
    .filter(([, name = "", value = ""]) => looksSecret(name, value))
    .map(([, name = ""]) => ({ key: `${key} (its parameter ${name})`, secret: secretName(name) }));
  const isWritten = looksSecret("password", password);
  return [...(isWritten ? [{ key: `${key} (its password)`, secret: "PASSWORD" }] : []), ...parameters];
}

/** Returns the name under which the secret value of a variable, header or option is stored. */
export function secretName(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9_]/g, "_");
}

type Missing = ReadonlySet<string>;

/** Finds secrets that settings refer to but that are not stored. Reads only names, so it opens no keychain. */
export async function missingSecrets(
  { servers, locations }: Pick<Configuration, "servers" | "locations">,
  { out }: { readonly out: { readonly warnOnce: (text: SafeText) => void } },
): Promise<Missing> {
  const mentioned = new Set(servers.flatMap(({ server }) => server.definition?.secrets ?? []));
  if (mentioned.size === 0) return mentioned;
  try {
    const { readSecretNames } = await import("@fairlead/core/files/secrets/secret-names");
    const stored = await readSecretNames(locations.state);
    return new Set([...mentioned].filter((name) => !stored.has(name)));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    out.warnOnce(safe`warning: ${toSafeLine(error.message)}`);
    return new Set();
  }
}

/** Returns one line for each secret that a server needs to start and that is not stored. */
export function missingSecretLines(secrets: readonly string[], missing: Missing): SafeText[] {
  return secrets
    .filter((name) => missing.has(name))
    .map(toSafeLine)
    .map((name) => safe`the secret ${name} is not stored: fairlead secret set ${name}`);
}
