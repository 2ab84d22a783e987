/** Takes secrets out of what goes into logs and messages: the ones we know, and what looks like one. */

import type { ServerDefinition, Transport } from "../settings/definition.ts";

export type Redact = (text: string) => string;

const hidden = "(hidden)";

const tellingName =
  /token|secret|passw|pwd|api[-_]?key|access[-_]?key|private[-_]?key|[-_]key$|^key$|credential|auth|cookie|[-_]pat$/i;
/** Shorter ones would turn every log into a riddle. */
const shortest = 4;
/** Of a value that is not said to be a secret. */
const shortestUnnamed = 8;

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
  [/\b(?:AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)/g, hidden],
];

/** `secrets` are values; they are found as they are, inside JSON, and in an address. */
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
  return /^-[^=]*$/.test(before) && tellingName.test(before) && !arg.startsWith("-") ? arg : undefined;
}

/** `--token=VALUE`, `TOKEN=VALUE`, `X-Token: VALUE` */
function valueInArgument(arg: string): string | undefined {
  const [, name = "", value] = /^([\w.-]+)(?:=|:\s+)(.+)$/s.exec(arg) ?? [];
  return tellingName.test(name) ? value : undefined;
}

/** What must not be seen of a server: its headers, what the entry sets in its environment, stored secrets, telling variables. */
export function secretsOf(transport: Transport, { values }: ServerDefinition, stored: Iterable<string>): string[] {
  const given = transport.kind === "stdio" ? [...transport.env].filter(isConfidential) : [...transport.headers];
  const variables = [...values].filter(([name]) => tellingName.test(name));
  const args = transport.kind === "stdio" ? secretArguments(transport.args) : [];
  const named = [...given, ...variables].map(([, value]) => value);
  return [...stored, ...[...named, ...args].flatMap((value) => [value, withoutScheme(value)])];
}

function secretArguments(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, at) => valueOfOption(args[at - 1] ?? "", arg) ?? valueInArgument(arg) ?? []);
}

/** Of a variable that an entry sets: plain words, paths and addresses may be read. */
function isConfidential([name, value]: readonly [string, string]): boolean {
  return (
    tellingName.test(name) ||
    (value.length >= shortestUnnamed && !/^[a-z]+$|^[~.]?[/\\]|^[A-Z]:\\|^\w+:\/\//.test(value))
  );
}

/** A server may repeat the credential without the word before it. */
function withoutScheme(value: string): string {
  return value.replace(/^\w+\s+(?=\S+$)/, "");
}

/** Half a character, which settings may contain, has no form in an address. */
function writtenForms(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(Buffer.from(secret).toString())];
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
