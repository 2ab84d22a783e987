/** Hides secrets in logs and messages: the known secret values of a server, and text that looks like a secret. */

import { parseJson } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import type { ServerDefinition, Transport } from "../settings/define/definition.ts";
import type { Environment } from "../settings/read/paths.ts";
import { writeJson } from "../text/deep-json.ts";
import { hidden } from "../text/hidden-text.ts";

/** Replaces secrets in a text by `(hidden)`. */
export type Redact = (text: string) => string;

const tellingName =
  /token|secret|(?<!com|by)pass(?!ive|age)|pwd|api[-_]?key|access[-_]?key|private[-_]?key|[-_]key$|^key$|credential|auth(?!or(?!i[sz]))|cookie|[-_]pat$/i;
/** Exceptions from `tellingName`: the values under these names are not secret. */
const harmlessName = /^(?:(?:old)?pwd|progressToken|max[-_]?tokens)$/i;
/** The shortest value that is hidden, in characters. Hiding shorter values would make logs unreadable. */
const shortest = 4;

const wellKnown: readonly (readonly [RegExp, string])[] = [
  // Matches a header or member such as "Authorization: Bearer …" or "x-api-key": "…".
  [
    /\b((?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]{0,40}(?:key|token))(["']?\s{0,4}[:=]\s{0,4}["']?)[^"'\r\n]+/gi,
    `$1$2${hidden}`,
  ],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${hidden}`],
  // Matches secrets in a URL: https://user:password@host, ?access_token=…
  [/(\w:\/\/[^\s/:@"']{0,200}:)[^\s/@"']{1,500}@/g, `$1${hidden}@`],
  [/([?&][\w.-]{0,40}(?:token|key|secret|password|signature|code)=)[^&#\s"']+/gi, `$1${hidden}`],
  /*
   * Matches private keys, also with escaped line breaks. If the last line of a key is missing, everything after its
   * first line is hidden.
   */
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----)[\s\S])*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g, hidden],
  // Matches tokens and keys of well-known services, and JWTs.
  [/\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|sk-|npm_)[\w-]{12,}/g, hidden],
  [/\b(?:AKIA[0-9A-Z]{16}|AIza[\w-]{30,})/g, hidden],
  // Without the lookbehind, the search in a long word would be slow.
  [/(?<![\w-])(?=(?:[\w-]*-)?eyJ)[\w-]{11,}\.[\w-]{8,}\.[\w-]*/g, hidden],
];

/** A `Redact` for these secret values and for text that looks like a secret. */
export function createRedactor(secrets: Iterable<string>): Redact {
  const hideValues = createValueRedactor(secrets);
  return (text) =>
    wellKnown.reduce((so, [pattern, replacement]) => so.replaceAll(pattern, replacement), hideValues(text));
}

/**
 * A `Redact` for these secret values and for each of their lines. Finds values and lines as written, JSON-escaped or
 * URL-encoded. Finds whole values also in Base64 and hexadecimal.
 */
export function createValueRedactor(secrets: Iterable<string>): Redact {
  const values = [...secrets].filter((secret) => secret.length >= shortest);
  const forms = new Set([...values.flatMap(writtenForms), ...values.flatMap(linesOf).flatMap(plainForms)]);
  // The longest secret comes first, because a secret may contain another one.
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const any = anyOf(longestFirst);
  if (any === undefined) return hideNothing;
  return (text) => {
    /*
     * If there are many secrets, the pattern contains only those that occur in the text, because a pattern with many
     * alternatives is slow.
     */
    const pattern = longestFirst.length <= fewForms ? any : anyOf(longestFirst.filter((form) => text.includes(form)));
    return pattern === undefined ? text : text.replaceAll(pattern, hidden);
  };
}

/** The `Redact` for a server without secrets. Returns every text unchanged. */
export const hideNothing: Redact = (text) => text;

const fewForms = 12;

function anyOf(texts: readonly string[]): RegExp | undefined {
  return texts.length === 0 ? undefined : new RegExp(texts.map(escapeRegExp).join("|"), "g");
}

/** The lines of a secret such as a PEM key, because programs often print a key line by line. */
function linesOf(secret: string): readonly string[] {
  const lines = secret.split(/[\r\n]+/).map((line) => line.trim());
  return lines.length < 2 ? [] : lines.filter((line) => line.length >= shortest && !/^-----(?:BEGIN|END) /.test(line));
}

/** The command-line arguments, in which the values of options such as `--token` are hidden. */
export function hideInArguments(args: readonly string[]): readonly string[] {
  return args.map((arg, at) => {
    if (valueOfOption(args[at - 1] ?? "", arg) !== undefined) return hidden;
    const value = valueInArgument(arg);
    if (value !== undefined) return arg.slice(0, -value.length) + hidden;
    return replaceValues(arg, namedValuesIn(arg, isTelling), () => hidden);
  });
}

/** The value of an option such as `--token VALUE`. */
function valueOfOption(before: string, arg: string): string | undefined {
  return /^-[^=]*$/.test(before) && isTelling(before.replace(/^-+/, "")) && !arg.startsWith("-") ? arg : undefined;
}

/** The value in `--token=VALUE`, `TOKEN=VALUE` or `X-Token: VALUE`. */
function valueInArgument(arg: string): string | undefined {
  const [, name = "", value] = /^([\w.-]+)(?:=|:\s+)(.+)$/s.exec(arg) ?? [];
  return isTelling(name.replace(/^-+/, "")) ? value : undefined;
}

/** Whether a variable, header or argument with this name is likely to contain a secret. */
export function isTelling(name: string): boolean {
  return tellingName.test(name) && !harmlessName.test(name);
}

/**
 * A message as JSON with the values of members such as `token` hidden. If a server sends an object as `token`, the
 * object stays readable, because it is the schema of an argument.
 */
export function hideInMessage(direction: "sent" | "received", message: object): string {
  return writeJson(message, 0, (key, value) => {
    if (!isTelling(key) || value === null || typeof value === "boolean") return value;
    return direction === "received" && typeof value === "object" && !Array.isArray(value) ? value : hidden;
  });
}

/**
 * A value of at least this many characters counts as secret, even if its name does not suggest a secret. A shorter
 * value may be an ordinary word.
 */
export const certainLength = 20;

/**
 * Secret values of one server: in its `env`, headers, arguments and URL, and all expanded variables and stored secrets.
 *
 * @param fromLength A value with fewer characters is left out if it may be an ordinary word, such as the name of a
 * region.
 */
export function secretsOf(
  transport: Transport,
  definition: ServerDefinition,
  stored: Iterable<string>,
  fromLength = 0,
): string[] {
  const isWanted = (name: string, value: string): boolean =>
    isTelling(name) || value.length >= fromLength || value.includes("PRIVATE KEY-----");
  const [given, texts] =
    transport.kind === "stdio" ? [transport.env, transport.args] : [transport.headers, [transport.url]];
  const written = definition.transport.kind === "stdio" ? definition.transport.env : definition.transport.headers;
  const values = [
    ...stored,
    ...[...definition.values]
      .filter((pair) => isConfidentialVariable(pair) && isWanted(...pair))
      .map(([, value]) => value),
    ...[...given]
      .filter(([name, value]) => isConfidential(name, value, written.get(name)) && isWanted(name, value))
      .map(([, value]) => value),
    ...secretArguments(transport.kind === "stdio" ? texts : []),
  ];
  const inUrls = [...values, ...texts].flatMap((text) => secretsInUrl(text, isWanted));
  return [...values.flatMap((value) => [value, withoutScheme(value)]), ...inUrls];
}

/**
 * Secret values that no ordinary name, key or URI contains by chance: stored secrets, and values under names such as
 * `API_TOKEN`.
 */
export function unmistakableSecrets(
  transport: Transport,
  definition: ServerDefinition,
  stored: readonly string[],
): readonly string[] {
  const others = secretsOf(transport, definition, [], Number.POSITIVE_INFINITY);
  return [
    ...stored.filter(({ length }) => length >= 8),
    ...others.filter((value) => value.length >= (/\d/.test(value) ? 8 : 16)),
  ];
}

function secretArguments(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, at) => [
    ...[valueOfOption(args[at - 1] ?? "", arg) ?? valueInArgument(arg) ?? []].flat(),
    ...namedValuesIn(arg, isTelling).flatMap(({ value }) => [value, unescaped(value)]),
  ]);
}

function unescaped(text: string): string {
  const value = parseJson(`"${text}"`);
  return typeof value === "string" ? value : text;
}

/** Common variables whose values are not secret. Hiding these values would make logs unreadable. */
const ordinaryVariable = /^(?:(?:OLD)?PWD|HOME|USER|USERNAME|LOGNAME|LANG|LC_\w+|PATH)$/;
const path = /^(?:~|\.{1,2})?[/\\]|^[A-Za-z]:[/\\]|^(?:~|\.{1,2})$/;
const plain = [
  path,
  /^(?:true|false|on|off|yes|no)$/i,
  /^\d{1,6}$/,
  /^(?:trace|debug|verbose|info|notice|warn|warning|error|fatal|critical|silent|none)$/i,
  // Matches a locale such as en_US.UTF-8 or C.UTF-8.
  /^(?:[a-z]{2,3}[-_][A-Z]{2}|C|POSIX)(?:\.(?:utf-?8|iso-?8859-?\d{1,2}))?$/i,
];

/**
 * Whether the value of an expanded variable is hidden. Most values are hidden, because users put secrets into variables
 * to keep them out of files.
 */
function isConfidentialVariable([name, value]: readonly [string, string]): boolean {
  return isTelling(name) || !(ordinaryVariable.test(name) || path.test(value));
}

/** Whether a value in `env` or `headers` is hidden. For a plain reference `$NAME`, `isConfidentialVariable` decides. */
function isConfidential(name: string, value: string, written = ""): boolean {
  if (isTelling(name)) return true;
  return !/^\$(?:\w+|\{\w+\})$/.test(written) && !isPlain(value);
}

function isPlain(value: string): boolean {
  return plain.some((form) => form.test(value));
}

/** The user name, password and query values of a URL (also in `--name=URL`): as written, as sent, and decoded. */
function secretsInUrl(text: string, isWanted: (name: string, value: string) => boolean): readonly string[] {
  const url = text.replace(/^[\w.-]+=/, "");
  if (!/^[\w+.-]+:\/\//.test(url)) return [];
  const forms = [url, parseUrl(url)?.href ?? url];
  return forms.flatMap((form) => [...accountIn(form), ...parametersIn(form, isWanted)]).flatMap(decodedForms);
}

/** Returns two texts: `user:password`, and the password alone. */
function accountIn(url: string): readonly string[] {
  const [, account] = /^[^/]+:\/\/([^/?#]*)@/.exec(url) ?? [];
  return account === undefined ? [] : [account, account.slice(account.indexOf(":") + 1)];
}

function parametersIn(url: string, isWanted: (name: string, value: string) => boolean): readonly string[] {
  const [, query = ""] = /^[^?#]*\?([^#]*)/.exec(url) ?? [];
  return query.split("&").flatMap((parameter) => {
    const at = parameter.indexOf("=");
    const [name, value] = [parameter.slice(0, Math.max(at, 0)), parameter.slice(at + 1)];
    return isWanted(name, value) && (at < 0 || isTelling(name) || !isPlain(value)) ? value : [];
  });
}

/** The values of environment variables whose names suggest a secret, such as the keys of models' APIs. */
export function secretVariables(env: Environment["env"]): readonly string[] {
  return Object.entries(env).flatMap(([name, value = ""]) =>
    isTelling(name) && value.length >= 8 && !isPlain(value) ? value : [],
  );
}

/**
 * The user names and passwords in variables such as `HTTPS_PROXY`. The URL may lack its scheme, and the password may
 * contain `@`.
 */
export function proxyAccounts(env: Environment["env"]): readonly string[] {
  const names = Object.keys(env).filter((name) => proxyName.test(name));
  return names.flatMap((name) => {
    const [, account] = /^(?:\w+:\/\/)?(.*)@/s.exec(env[name] ?? "") ?? [];
    return account === undefined ? [] : [account, account.slice(account.indexOf(":") + 1)].flatMap(decodedForms);
  });
}

const proxyName = /^(?:https?|all|no)_proxy$/i;

/** The text in three forms: unchanged, decoded with `+` as a plus sign, and decoded with `+` as a space. */
function decodedForms(text: string): readonly string[] {
  try {
    return [text, decodeURIComponent(text), decodeURIComponent(text.replaceAll("+", " "))];
  } catch {
    // The text is not URL-encoded.
    return [text];
  }
}

/** Removes the scheme from a header value (`Bearer abc` → `abc`), because a server may repeat the token alone. */
function withoutScheme(value: string): string {
  return value.replace(/^\w+\s+(?=\S+$)/, "");
}

/** The forms in which a secret may appear: as written, JSON-escaped, URL-encoded, in Base64 and in hexadecimal. */
function writtenForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const encoded = bytes.toString("base64").replace(/={1,2}$/, "");
  const hex = bytes.toString("hex");
  return [...plainForms(secret), encoded, bytes.toString("base64url"), hex, hex.toUpperCase()];
}

/** Converts the secret to bytes and back, because `encodeURIComponent` throws at a lone surrogate. */
function plainForms(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, encodeURIComponent(Buffer.from(secret).toString())];
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

/** A value with its name and its position in the text. */
interface ValueInText {
  readonly name: string;
  /** The value as written, with escapes and without quotes. */
  readonly value: string;
  readonly start: number;
}

/**
 * Matches `"name": 12`, and `"name": "value"` up to the value, also with single or escaped quotes. The lookahead matches
 * the whole name at once. Without it, the search in a long word would be slow.
 */
const member = /(?=([\w.-]{1,80}))\1(?:\\*["'])?\s{0,9}:\s{0,9}(?:(\\*)(["'])|(-?\d[\d.]{0,40}))/g;
/** Matches `NAME=value` and `--name="value"`. */
const assignment = /(?<![\w.-])([\w.-]{1,80})=(["']?)([^\s"';|&]+)\2/g;

/** The values in `text` whose names `isTelling` accepts, in order. A value inside an earlier value is left out. */
export function namedValuesIn(text: string, isTelling: (name: string) => boolean): readonly ValueInText[] {
  const found = [
    ...membersIn(text),
    ...[...text.matchAll(assignment)].map(({ 0: all, 1: name = "", 2: quote = "", 3: value = "", index }) => {
      return { name, value, start: index + all.length - quote.length - value.length };
    }),
  ];
  const telling = found.filter(({ name, value }) => value !== "" && isTelling(name.replace(/^-+/, "")));
  let end = 0;
  return telling
    .sort((a, b) => a.start - b.start)
    .filter(({ start, value }) => {
      const isFree = start >= end;
      if (isFree) end = start + value.length;
      return isFree;
    });
}

function membersIn(text: string): readonly ValueInText[] {
  const found: ValueInText[] = [];
  const search = new RegExp(member);
  for (let match = search.exec(text); match !== null; match = search.exec(text)) {
    const [, name = "", escapes = "", quote, number = ""] = match;
    const start = search.lastIndex - number.length;
    const end = quote === undefined ? search.lastIndex : endOfQuoted(text, { start, quote, escapes: escapes.length });
    // The search goes on inside a quoted value, because the value may be JSON with members of its own.
    if (end !== undefined) found.push({ name, value: text.slice(start, end), start });
  }
  return found;
}

/**
 * Returns the end of a quoted value. If n backslashes escape the opening quote, n backslashes escape the closing quote.
 * In front of them, the value may end with backslashes of its own, always a multiple of 2(n + 1). A quote with another
 * number of backslashes belongs to the value.
 */
function endOfQuoted(text: string, { start, quote, escapes }: Quoted): number | undefined {
  for (let at = text.indexOf(quote, start); at !== -1; at = text.indexOf(quote, at + 1)) {
    let first = at;
    while (first > start && text[first - 1] === "\\") first -= 1;
    if ((at - first) % (2 * (escapes + 1)) === escapes) return at - escapes;
  }
  return undefined;
}

/** A quoted value: where it starts, its quote, and how many backslashes escape the quote. */
interface Quoted {
  readonly start: number;
  readonly quote: string;
  readonly escapes: number;
}

/** Returns `text` with `replacement(value)` in place of each value. */
export function replaceValues(
  text: string,
  values: readonly ValueInText[],
  replacement: (value: string) => string,
): string {
  let shown = "";
  let at = 0;
  for (const { value, start } of values) {
    shown += text.slice(at, start) + replacement(value);
    at = start + value.length;
  }
  return shown + text.slice(at);
}
