/** Takes secrets out of what goes into logs and messages: the ones we know, and what looks like one. */

import { parseUrl } from "@fairlead/wire/text";
import type { ServerDefinition, Transport } from "../settings/define/definition.ts";
import type { Environment } from "../settings/read/paths.ts";
import { writeJson } from "../text/deep-json.ts";

export type Redact = (text: string) => string;

const hidden = "(hidden)";

const tellingName =
  /token|secret|(?<!com|by)pass(?!ive|age)|pwd|api[-_]?key|access[-_]?key|private[-_]?key|[-_]key$|^key$|credential|auth(?!or(?!i[sz]))|cookie|[-_]pat$/i;
/** Names that contain such a word and hold nothing secret. */
const harmlessName = /^(?:(?:old)?pwd|progressToken|max[-_]?tokens)$/i;
/** Shorter ones would turn every log into a riddle. */
const shortest = 4;

const wellKnown: readonly (readonly [RegExp, string])[] = [
  // "Authorization: Bearer …", "x-api-key": "…"
  [
    /\b((?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]{0,40}(?:key|token))(["']?\s{0,4}[:=]\s{0,4}["']?)[^"'\r\n]+/gi,
    `$1$2${hidden}`,
  ],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${hidden}`],
  // https://user:password@host, ?access_token=…
  [/(\w:\/\/[^\s/:@"']{0,200}:)[^\s/@"']{1,500}@/g, `$1${hidden}@`],
  [/([?&][\w.-]{0,40}(?:token|key|secret|password|signature|code)=)[^&#\s"']+/gi, `$1${hidden}`],
  // What well-known services give out, signed tokens, keys.
  [/\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|sk-|npm_)[\w-]{12,}/g, hidden],
  [/\b(?:AKIA[0-9A-Z]{16}|AIza[\w-]{30,})/g, hidden],
  // Tried once for each run of such characters: a line may be nothing but beginnings.
  [/(?<![\w-])(?=(?:[\w-]*-)?eyJ)[\w-]{11,}\.[\w-]{8,}\.[\w-]*/g, hidden],
];

/** `secrets` are values; they are found as they are, inside JSON, in an address, and in base64. */
export function createRedactor(secrets: Iterable<string>): Redact {
  const forms = new Set([...secrets].filter((secret) => secret.length >= shortest).flatMap(writtenForms));
  // The longest first: one secret may be part of another.
  const known = [...forms].sort((a, b) => b.length - a.length).map(escapeRegExp);
  const any = known.length === 0 ? undefined : new RegExp(known.join("|"), "g");
  return (text) => {
    const shown = any === undefined ? text : text.replaceAll(any, hidden);
    return wellKnown.reduce((so, [pattern, replacement]) => so.replaceAll(pattern, replacement), shown);
  };
}

/** A command line without the values of options with telling names. */
export function hideInArguments(args: readonly string[]): readonly string[] {
  return args.map((arg, at) => {
    if (valueOfOption(args[at - 1] ?? "", arg) !== undefined) return hidden;
    const value = valueInArgument(arg);
    return value === undefined ? arg : arg.slice(0, -value.length) + hidden;
  });
}

/** `--token VALUE` */
function valueOfOption(before: string, arg: string): string | undefined {
  return /^-[^=]*$/.test(before) && isTelling(before.replace(/^-+/, "")) && !arg.startsWith("-") ? arg : undefined;
}

/** `--token=VALUE`, `TOKEN=VALUE`, `X-Token: VALUE` */
function valueInArgument(arg: string): string | undefined {
  const [, name = "", value] = /^([\w.-]+)(?:=|:\s+)(.+)$/s.exec(arg) ?? [];
  return isTelling(name.replace(/^-+/, "")) ? value : undefined;
}

/** Whether something of that name (a variable, a header, an argument) is likely to be a secret. */
function isTelling(name: string): boolean {
  return tellingName.test(name) && !harmlessName.test(name);
}

/**
 * A message as JSON, without what stands under telling names. What we send holds values, whatever their shape; what a
 * server sends may describe them, and such a description (an object) is to be read.
 */
export function hideInMessage(direction: "sent" | "received", message: object): string {
  return writeJson(message, 0, (key, value) => {
    if (!isTelling(key) || value === null || typeof value === "boolean") return value;
    return direction === "received" && typeof value === "object" && !Array.isArray(value) ? value : hidden;
  });
}

/** What must not be seen of a server: what its entry sets and sends, and whatever was filled in from outside the entry. */
export function secretsOf(transport: Transport, definition: ServerDefinition, stored: Iterable<string>): string[] {
  const [given, texts] =
    transport.kind === "stdio" ? [transport.env, transport.args] : [transport.headers, [transport.url]];
  const written = definition.transport.kind === "stdio" ? definition.transport.env : definition.transport.headers;
  const values = [
    ...stored,
    ...[...definition.values].filter(isConfidentialVariable).map(([, value]) => value),
    ...[...given].filter(([name, value]) => isConfidential(name, value, written.get(name))).map(([, value]) => value),
    ...secretArguments(transport.kind === "stdio" ? texts : []),
  ];
  return [...values.flatMap((value) => [value, withoutScheme(value)]), ...[...values, ...texts].flatMap(secretsInUrl)];
}

function secretArguments(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, at) => valueOfOption(args[at - 1] ?? "", arg) ?? valueInArgument(arg) ?? []);
}

/** Everybody has these, and every log is full of them. */
const ordinaryVariable = /^(?:(?:OLD)?PWD|HOME|USER|USERNAME|LOGNAME|LANG|LC_\w+|PATH)$/;
const path = /^(?:~|\.{1,2})?[/\\]|^[A-Za-z]:[/\\]|^(?:~|\.{1,2})$/;
const plain = [
  path,
  /^(?:true|false|on|off|yes|no)$/i,
  /^\d{1,6}$/,
  /^(?:trace|debug|verbose|info|notice|warn|warning|error|fatal|critical|silent|none)$/i,
  // en_US.UTF-8, C.UTF-8
  /^(?:[a-z]{2,3}[-_][A-Z]{2}|C|POSIX)(?:\.(?:utf-?8|iso-?8859-?\d{1,2}))?$/i,
];

/** Of a variable that was looked up: the value may be anything that its owner keeps out of files. */
function isConfidentialVariable([name, value]: readonly [string, string]): boolean {
  return isTelling(name) || !(ordinaryVariable.test(name) || path.test(value));
}

/** Of a variable or header that an entry sets: what was not written there is judged by where it comes from. */
function isConfidential(name: string, value: string, written = ""): boolean {
  if (isTelling(name)) return true;
  return !/^\$(?:\w+|\{\w+\})$/.test(written) && !isPlain(value);
}

function isPlain(value: string): boolean {
  return plain.some((form) => form.test(value));
}

/** The account and the parameters of an address (or of `--name=ADDRESS`), as written, as they are sent, and decoded. */
function secretsInUrl(text: string): readonly string[] {
  const url = text.replace(/^[\w.-]+=/, "");
  if (!/^[\w+.-]+:\/\//.test(url)) return [];
  const forms = [url, parseUrl(url)?.href ?? url];
  return forms.flatMap((form) => [...accountIn(form), ...parametersIn(form)]).flatMap(decodedForms);
}

/** With its password, the password alone, or what stands in the place of both. */
function accountIn(url: string): readonly string[] {
  const [, account] = /^[^/]+:\/\/([^/?#]*)@/.exec(url) ?? [];
  return account === undefined ? [] : [account, account.slice(account.indexOf(":") + 1)];
}

function parametersIn(url: string): readonly string[] {
  const [, query = ""] = /^[^?#]*\?([^#]*)/.exec(url) ?? [];
  return query.split("&").flatMap((parameter) => {
    const at = parameter.indexOf("=");
    const value = parameter.slice(at + 1);
    return at >= 0 && !isTelling(parameter.slice(0, at)) && isPlain(value) ? [] : value;
  });
}

/** Of the proxies that programs are told of: written with a scheme or without, up to the last `@`. */
export function proxyAccounts(env: Environment["env"]): readonly string[] {
  return Object.entries(env).flatMap(([name, value = ""]) => {
    const [, account] = (/^(?:https?|all|no)_proxy$/i.test(name) && /^(?:\w+:\/\/)?(.*)@/s.exec(value)) || [];
    return account === undefined ? [] : [account, account.slice(account.indexOf(":") + 1)].flatMap(decodedForms);
  });
}

/** A plus sign is a space in parameters only. */
function decodedForms(text: string): readonly string[] {
  try {
    return [text, decodeURIComponent(text), decodeURIComponent(text.replaceAll("+", " "))];
  } catch {
    // Not encoded, then: it stands as it is.
    return [text];
  }
}

/** A server may repeat the credential without the word before it. */
function withoutScheme(value: string): string {
  return value.replace(/^\w+\s+(?=\S+$)/, "");
}

/** Half a character, which settings may contain, has no form in an address. */
function writtenForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const encoded = bytes.toString("base64").replace(/={1,2}$/, "");
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, encodeURIComponent(bytes.toString()), encoded, bytes.toString("base64url")];
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
