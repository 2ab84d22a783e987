/** Expands variables, secrets and paths in the values of a server's entry. */

import { resolve, sep } from "node:path";
import { HostError } from "../../errors.ts";
import { whyNotUrl } from "../schema/validate.ts";
import { splitShellLine } from "../shell-line.ts";
import type { Authentication, MachineAuthSettings, OAuthSettings, ServerDefinition, Transport } from "./definition.ts";

type Render = (text: string) => string;
/** Returns a stored secret, or for a name that begins with `command:` what the command after it prints. */
type Secret = (name: string) => Promise<string | undefined>;

/** The name by which a `Secret` function is asked for what a command prints. Names of stored secrets have no colon. */
export const commandPrefix = "command:";

/** A `Secret` function for where no command may run, such as lists: a command's value is the reference to it. */
export function withoutCommands(secret: Secret): Secret {
  return async (name) => (name.startsWith(commandPrefix) ? `\${${name}}` : secret(name));
}

/** The home folder, and the folder in which relative paths start. */
export interface PathBase {
  readonly home: string;
  readonly folder: string;
}

/**
 * Expands the variables and secrets of the transport. Call it just before connecting, because it reads secrets.
 *
 * @throws HostError `variable_unset` if a value is missing, `settings_invalid` if the URL or a header is invalid
 */
export async function expandTransport(definition: ServerDefinition, secret: Secret): Promise<Transport> {
  const transport = resolveTransport(definition.transport, definition.base, await renderWith(definition, secret));
  if (transport.kind !== "stdio") checkReady(definition.name, transport.url, transport.headers);
  return transport;
}

/**
 * Expands the variables and secrets of the authentication.
 *
 * @throws HostError `variable_unset` if a value is missing
 */
export async function expandAuthentication(definition: ServerDefinition, secret: Secret): Promise<Authentication> {
  const { authentication } = definition;
  if (authentication.provider === "sa-impersonation") return authentication;
  const render = await renderWith(definition, secret);
  return { provider: authentication.provider, oauth: renderOAuth(authentication.oauth, render) };
}

/**
 * `machineAuth` with variables and secrets expanded and paths resolved. Undefined if the settings do not contain
 * `machineAuth`.
 */
export async function expandMachineAuth(
  definition: ServerDefinition,
  secret: Secret,
): Promise<MachineAuthSettings | undefined> {
  const { machineAuth } = definition.extras;
  if (machineAuth === undefined) return undefined;
  return renderMachineAuth(definition, await renderWith({ ...definition, values: machineAuth.values }, secret));
}

/** `machineAuth` for display, for example in `doctor`. Secrets are not expanded. Undefined if the settings lack it. */
export function describeMachineAuth(definition: ServerDefinition): MachineAuthSettings | undefined {
  const { machineAuth } = definition.extras;
  return machineAuth && renderMachineAuth(definition, renderer(machineAuth.values));
}

function renderMachineAuth(
  { extras, base: { home } }: ServerDefinition,
  render: Render,
): MachineAuthSettings | undefined {
  if (extras.machineAuth === undefined) return undefined;
  const rendered = (key: string, value: unknown): unknown => {
    // `machineAuth` belongs to the user's settings, so a relative path starts at the home folder.
    if (typeof value === "string")
      return key.endsWith("File") ? resolve(home, renderPath(value, { home, folder: home }, render)) : render(value);
    if (Array.isArray(value)) return value.map((item) => render(String(item)));
    return Object.fromEntries(Object.entries(value ?? {}).map(([inner, text]) => [inner, rendered(inner, text)]));
  };
  const { kind, ...rest } = extras.machineAuth.settings;
  return { kind, ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, rendered(key, value)])) };
}

/** Expands variables and paths with `render`. For display and comparison, `render` does not expand secrets. */
export function resolveTransport(transport: Transport, base: PathBase, render: Render): Transport {
  if (transport.kind !== "stdio")
    return { kind: transport.kind, url: render(transport.url), headers: renderAll(transport.headers, render) };
  return {
    kind: "stdio",
    command: resolveCommand(transport.command, base, render),
    args: transport.args.map((arg) => renderPath(arg, base, render)),
    env: renderAll(transport.env, render),
    cwd: transport.cwd === undefined ? undefined : resolve(base.folder, renderPath(transport.cwd, base, render)),
  };
}

/**
 * Returns the path of a command's program. A name without a slash stays as it is, because Fairlead looks for it in
 * `PATH`.
 */
export function resolveCommand(command: string, base: PathBase, render: Render): string {
  const path = renderPath(command, base, render);
  return path.includes("/") || path.includes(sep) ? resolve(base.folder, path) : path;
}

/** Expands a path. Only a `~` in the settings stands for the home folder, not a `~` in the value of a variable. */
function renderPath(text: string, { home }: PathBase, render: Render): string {
  return /^~(?:$|[/\\])/.test(text) ? home + render(text.slice(1)) : render(text);
}

function renderAll(texts: ReadonlyMap<string, string>, render: Render): ReadonlyMap<string, string> {
  return new Map([...texts].map(([name, text]) => [name, render(text)]));
}

function renderOAuth(oauth: OAuthSettings, render: Render): OAuthSettings {
  const rendered = Object.entries(oauth).map(([key, value]: [string, unknown]) => {
    if (typeof value === "string") return [key, render(value)];
    return [key, Array.isArray(value) ? value.map((item) => render(String(item))) : value];
  });
  return Object.fromEntries(rendered);
}

/**
 * Returns a function that replaces known variables and secrets by their values. Others become `${NAME}`,
 * `${secret:NAME}` or `${command:LINE}`.
 */
export function renderer(
  values: ReadonlyMap<string, string>,
  secrets: ReadonlyMap<string, string> = new Map(),
): Render {
  return (text) => {
    const template = parseVariables(text);
    if (template.kind === "malformed") return text;
    const texts = template.parts.map((part) => {
      if (part.kind === "text") return part.text;
      if (part.kind === "secret") return secrets.get(part.name) ?? `\${secret:${part.name}}`;
      if (part.kind === "command") {
        const name = `${commandPrefix}${part.line}`;
        return secrets.get(name) ?? `\${${name}}`;
      }
      return valueOfVariable(part, values) ?? `\${${part.name}}`;
    });
    return texts.join("");
  };
}

async function renderWith(
  { name, resolved, variables, values, secrets, commands = [] }: ServerDefinition,
  secret: Secret,
): Promise<Render> {
  if (resolved === undefined) {
    const missing = variables.filter(({ from }) => from === "unset" || from === "not-looked-up").map((use) => use.name);
    const message = `"${name}" cannot be reached: variables without a value: ${missing.join(", ")}`;
    throw new HostError("variable_unset", message, { serverName: name });
  }
  const stored = new Map<string, string>();
  for (const secretName of secrets) {
    const value = await secret(secretName);
    if (value === undefined)
      throw new HostError("variable_unset", `"${name}" uses the secret ${secretName}, which is not stored`, {
        serverName: name,
        next: `fairlead secret set ${secretName}`,
      });
    stored.set(secretName, value);
  }
  for (const line of commands) {
    const value = await secret(`${commandPrefix}${line}`).catch((error: unknown) => {
      if (!(error instanceof HostError) || error.code === "cancelled") throw error;
      const message = `"${name}" has no value for a secret: ${error.message}`;
      throw new HostError(error.code, message, { serverName: name, next: error.next, cause: error });
    });
    if (value === undefined)
      throw new HostError(
        "variable_unset",
        `"${name}" uses \${${commandPrefix}${line}}, and this program runs no commands`,
        {
          serverName: name,
        },
      );
    stored.set(`${commandPrefix}${line}`, value);
  }
  return renderer(values, stored);
}

/** Checks the URL and the headers again after secrets were read. The messages do not quote the values. */
function checkReady(serverName: string, url: string, headers: ReadonlyMap<string, string>): void {
  if (whyNotUrl(url, "url") !== undefined)
    throw new HostError(
      "settings_invalid",
      `the URL of "${serverName}" is not valid after its variables are replaced by their values`,
      { serverName },
    );
  for (const [name, value] of headers) {
    if (/[\0\r\n]/.test(value))
      throw new HostError("settings_invalid", `the header ${name} of "${serverName}" has a line break in its value`, {
        serverName,
      });
  }
}

/**
 * One part of a settings value: plain text or a reference. A reference is `$NAME`, `${NAME}`, `${NAME:-default}`,
 * `${secret:NAME}`, `${command:LINE}` in settings of the user and the system, or, in system settings, `${file:PATH}`,
 * which is a variable with the name `file:PATH`. `$$` stands for a dollar sign.
 */
export type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "variable"; readonly name: string; readonly fallback?: string }
  | { readonly kind: "secret"; readonly name: string }
  /** What a program prints, such as that of a password manager. No variable in `line` is expanded. */
  | { readonly kind: "command"; readonly line: string };

type Template =
  | { readonly kind: "parts"; readonly parts: readonly TemplatePart[] }
  /** The text is malformed. `reason` is the text after "cannot be expanded: ". */
  | { readonly kind: "malformed"; readonly reason: string };

// Matches a reference, `$$`, or `${` without `}`. A dollar sign that is none of these is plain text.
const special = /\$(?:\$|(?<bare>[A-Za-z_]\w*)|\{(?<braced>[^}]*)(?<closed>\})?)/g;
const inBraces =
  /^(?:command:(?<line>.*)|secret:(?<secret>[^:$\s]+)|(?<file>file:[^$]+)|(?<name>[A-Za-z_]\w*)(?::-(?<fallback>.*))?)$/s;

/** Splits a settings value into plain text and references. Does not look up values. */
export function parseVariables(text: string): Template {
  if (text !== "" && !text.includes("$")) return { kind: "parts", parts: [{ kind: "text", text }] };
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const match of text.matchAll(special)) {
    if (match.index > end) parts.push({ kind: "text", text: text.slice(end, match.index) });
    end = match.index + match[0].length;
    const part = toPart(match[0], match.groups ?? {});
    if (typeof part === "string") return { kind: "malformed", reason: part };
    parts.push(part);
  }
  if (end < text.length) parts.push({ kind: "text", text: text.slice(end) });
  return { kind: "parts", parts };
}

function toPart(written: string, { bare, braced, closed }: Record<string, string | undefined>): TemplatePart | string {
  if (bare !== undefined) return { kind: "variable", name: bare };
  if (braced === undefined) return { kind: "text", text: "$" };
  if (closed === undefined) return `"${written}" has no closing "}"`;
  const { line, secret, file, name, fallback } = inBraces.exec(braced)?.groups ?? {};
  if (line !== undefined) {
    const words = commandWords(line);
    return "refused" in words ? `"${written}" is not a command line: ${words.refused}` : { kind: "command", line };
  }
  if (secret !== undefined) return { kind: "secret", name: secret };
  if (file !== undefined) return { kind: "variable", name: file };
  // Defaults are not expanded, so a default that contains `${`, such as `${A:-${B}}`, is refused.
  if (name === undefined || fallback?.includes("${"))
    return `"${written}" is not a reference; write \${NAME}, \${NAME:-default} or \${secret:NAME}`;
  return { kind: "variable", name, fallback };
}

/** The words of the line in `${command:LINE}`, or why it is refused. Words are separated by spaces outside quotes. */
export function commandWords(line: string): { readonly words: readonly string[] } | { readonly refused: string } {
  const split = splitShellLine(line);
  if (split.kind === "refused") return { refused: split.reason };
  // The words are written as settings values, in which `$$` stands for a dollar sign.
  const words = split.words.map((word) => word.replaceAll("$$", () => "$"));
  return /[/\\]/.test(words[0] ?? "") && !/^(?:~?[/\\]|[A-Za-z]:[/\\])/.test(words[0] ?? "")
    ? { refused: `the path of the program "${words[0]}" does not start at a root or at the home folder` }
    : { words };
}

/** Returns the value of a variable, or the default in the reference if the variable is unset or empty. */
export function valueOfVariable(
  part: TemplatePart & { kind: "variable" },
  values: ReadonlyMap<string, string>,
): string | undefined {
  const value = values.get(part.name);
  return part.fallback !== undefined && (value === undefined || value === "") ? part.fallback : value;
}
