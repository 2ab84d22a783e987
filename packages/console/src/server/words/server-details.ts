/** Formats one server in full as labelled lines. `mcp get` hides values. `trust add` shows values exactly. */

import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { rootsFor } from "@fairlead/core/server";
import {
  type Authentication,
  type ConfiguredServer,
  describeMachineAuth,
  type Origin,
  type Problem,
  renderer,
  resolveTransport,
  type ServerDefinition,
  sandboxLine,
  type Transport,
  type VariableUse,
} from "@fairlead/core/settings";
import { joinSafe, padSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type AdmittedServer, type Configuration, entryTrust } from "@fairlead/core/trust";
import { parseUrl } from "@fairlead/wire/text";
import { launchNotes } from "./server-notes.ts";
import { hideLiteral, redact } from "./server-redaction.ts";

/** A label with its values, one part of a server's details. */
export interface Field {
  readonly label: SafeText;
  /** The values, one for each line. A field without values is not shown. */
  readonly values: readonly SafeText[];
}

/** Makes untrusted text printable: `toSafeLine`, or `toVisibleLine` for text that the user decides about. */
type Show = (text: string) => SafeText;

/** Returns the fields as aligned lines, each line with the indent `indent`. */
export function layout(fields: readonly Field[], indent: SafeText): SafeText {
  const shown = fields.filter(({ values }) => values.length > 0);
  const width = Math.max(0, ...shown.map(({ label }) => label.length));
  const lines = shown.flatMap(({ label, values }) =>
    values.map((value, at) => safe`${indent}${padSafe(at === 0 ? label : safe``, width)}  ${value}`),
  );
  return joinSafe(lines);
}

/** Returns the command, arguments and variables of a stdio server, or the URL and headers of a remote server. */
export function transportFields(transport: Transport, show: Show): Field[] {
  switch (transport.kind) {
    case "stdio":
      return [
        { label: safe`command`, values: [show(transport.command)] },
        { label: safe`arguments`, values: numbered(transport.args.map(show)) },
        { label: safe`environment`, values: pairs(transport.env, safe`=`, show) },
        { label: safe`cwd`, values: transport.cwd === undefined ? [] : [show(transport.cwd)] },
      ];
    case "http":
    case "sse":
    case "http-or-sse":
      return [
        { label: safe`url`, values: [show(transport.url)] },
        { label: safe`headers`, values: pairs(transport.headers, safe`: `, show) },
      ];
  }
}

/**
 * Numbers the values, so that an argument with spaces does not look like two arguments, and an empty argument is
 * visible.
 */
function numbered(values: readonly SafeText[]): SafeText[] {
  return values.map((value, at) => safe`${at + 1}: ${value}`);
}

/** Returns a text such as `NAME=value` for each variable or header. `between` is the separator. */
function pairs(values: ReadonlyMap<string, string>, between: SafeText, show: Show): SafeText[] {
  return [...values].map(([name, value]) => safe`${show(name)}${between}${show(value)}`);
}

/** Returns the resolved command, folder or URL, and where variables come from. Hides values that may be secrets. */
export function resolvedFields(definition: ServerDefinition, show: Show): Field[] {
  const { variables } = definition;
  return [
    { label: safe`resolves to`, values: resolvedValues(definition, show) },
    { label: safe`variables`, values: variables.map((use) => safe`${show(use.name)} ${variableWords[use.from]}`) },
    { label: safe`secrets`, values: secretValues(definition, show) },
  ];
}

function secretValues({ secrets, commands = [] }: ServerDefinition, show: Show): SafeText[] {
  return [
    ...secrets.map((name) => safe`${show(name)} from the secret store`),
    ...commands.map((line) => safe`printed by ${show(line.trim())}, which runs when Fairlead connects`),
  ];
}

/** Returns the resolved command and folder, or the origin of the resolved URL, if they differ from the entry. */
export function resolvedValues({ transport: written, resolved }: ServerDefinition, show: Show): SafeText[] {
  if (resolved === undefined) return [];
  if (resolved.kind !== "stdio")
    return written.kind !== "stdio" && written.url === resolved.url
      ? []
      : [show(parseUrl(resolved.url)?.origin ?? resolved.url)];
  const before: { readonly command?: string; readonly cwd?: string } = written.kind === "stdio" ? written : {};
  return [
    ...(resolved.command === before.command ? [] : [show(resolved.command)]),
    ...(resolved.cwd === undefined || resolved.cwd === before.cwd ? [] : [safe`in ${show(resolved.cwd)}`]),
  ];
}

/** Where the value of a variable comes from, in words. */
const variableWords: Readonly<Record<VariableUse["from"], SafeText>> = {
  environment: safe`from the environment`,
  "user-env-file": safe`from your .env file`,
  file: safe`from this file`,
  "workspace-env-file": safe`from the workspace's .env file`,
  "workspace-root": safe`is the workspace root`,
  default: safe`from the default in the entry`,
  unset: safe`is not set`,
  "not-looked-up": safe`is not looked up in an untrusted folder`,
};

/** How to print the options of an entry. */
interface OptionLook {
  readonly show: Show;
  /** Replaces a client secret by a placeholder. */
  readonly hide: (text: string) => string;
}

/** Returns all options of an entry except its transport. */
export function optionFields(definition: ServerDefinition, { show, hide }: OptionLook): Field[] {
  const { authentication, timeout, includeTools, excludeTools } = definition;
  const words = (names: readonly string[]): SafeText =>
    names.length === 0 ? safe`(none)` : joinSafe(names.map(show), safe`, `);
  const sandbox = sandboxLine(definition);
  const facts = Object.entries(authenticationDocument(authentication, hide)).map(([key, value]) =>
    show(`${key}: ${String(value)}`),
  );
  return [
    // An entry that has only the default provider `oauth` configures no sign-in, so the sign-in field is not shown.
    { label: safe`sign-in`, values: authentication.provider === "oauth" && facts.length === 1 ? [] : facts },
    { label: safe`sandbox`, values: sandbox === undefined ? [] : [show(sandbox)] },
    { label: safe`timeout`, values: [safe`${timeout} ms`] },
    { label: safe`includeTools`, values: includeTools === undefined ? [] : [words(includeTools)] },
    { label: safe`excludeTools`, values: excludeTools.length === 0 ? [] : [words(excludeTools)] },
  ];
}

/** Returns the sign-in options as JSON, with the client secret hidden by `hide`. */
export function authenticationDocument(authentication: Authentication, hide: OptionLook["hide"]): object {
  if (authentication.provider === "sa-impersonation") return authentication;
  const { provider, oauth } = authentication;
  const { clientSecret } = oauth;
  const shown = { provider, ...oauth };
  return clientSecret === undefined ? shown : { ...shown, clientSecret: hide(clientSecret) };
}

/** Returns everything about a server's definition, with literal secrets hidden. `trust`: what `"trust": true` does. */
export function definitionFields(
  definition: ServerDefinition,
  configuration: Configuration,
  trust: readonly SafeText[],
): Field[] {
  const { transport, description, fingerprint } = definition;
  return [
    ...transportFields(redact(transport), toVisibleLine),
    ...resolvedFields(definition, toVisibleLine),
    ...optionFields(definition, { show: toVisibleLine, hide: hideLiteral }),
    { label: safe`roots`, values: [rootsWords(definition, configuration)] },
    { label: safe`trust`, values: trust },
    { label: safe`description`, values: description === undefined ? [] : [toSafeLine(description)] },
    { label: safe`fingerprint`, values: [toSafeLine(fingerprint)] },
    { label: safe`note`, values: launchNotes(definition).map(toVisibleLine) },
  ];
}

/** Returns what `"trust": true` does, and the next step if it does nothing. Empty without `"trust": true`. */
export function trustValues(
  server: AdmittedServer,
  configuration: Configuration,
  typed: (text: SafeText) => SafeText = (text) => text,
): readonly SafeText[] {
  const found = entryTrust(server, configuration);
  if (found === undefined) return [];
  if (found.counts) return [safe`true: the server's tools run without confirmation`];
  const reason = safe`true, but it has no effect: ${toVisibleLine(found.reason)}`;
  // For a server that may not start, the field `next` has the step already.
  const hasNext = server.admission.status === "admitted" && found.next !== undefined;
  return hasNext ? [reason, typed(safe`next: ${toVisibleLine(found.next)}`)] : [reason];
}

/** Returns the position in a settings file as `FILE:LINE:COLUMN`. */
export function positionText({ file, line, column }: Origin, show: Show = toSafeLine): SafeText {
  return safe`${show(file)}:${line}:${column}`;
}

/** Formats one settings problem as `FILE:LINE:COLUMN: severity: message`, followed by the next step. */
export function problemLines({ severity, message, origin, next }: Problem): SafeText {
  const where = origin === undefined ? safe`` : safe`${positionText(origin)}: `;
  const hint = next === undefined ? safe`` : safe`\n  next: ${toSafeLine(next)}`;
  return safe`${where}${toSafeLine(severity)}: ${toSafeLine(message)}${hint}`;
}

/**
 * Returns the word for a transport. For an entry with only `url` it is `http`, because Fairlead tries streamable HTTP
 * first.
 */
export function transportWord(kind: ConfiguredServer["kind"]): "stdio" | "http" | "sse" | "unknown" {
  switch (kind) {
    case undefined:
      return "unknown";
    case "http-or-sse":
      return "http";
    case "stdio":
    case "http":
    case "sse":
      return kind;
  }
}

// Shows which MCP roots a server gets, as text and as JSON, for `mcp get` and `mcp test`.

/** Returns the folders that Fairlead sends to the server as roots. */
export function rootFolders(definition: ServerDefinition, configuration: Configuration): readonly string[] {
  return rootsFor(definition, configuration).map(({ uri }) => fileURLToPath(uri));
}

/** Returns the folders that are sent, or the reason why none is sent. */
export function rootsWords(definition: ServerDefinition, configuration: Configuration): SafeText {
  const folders = rootFolders(definition, configuration);
  if (folders.length > 0) return safe`sent: ${joinSafe(folders.map(toVisibleLine), safe`, `)}`;
  return definition.extras.roots
    ? safe`not sent: the folder is not trusted`
    : safe`not sent (fairlead.servers.${toVisibleLine(definition.name)}.roots is false)`;
}

// Shows everything that a user approves about a server: the entry as written, its resolved values, and where each
// value comes from.

const show = toVisibleLine;

/** Returns the fields to show before an approval. Hidden characters are made visible. */
export function approvalFields(definition: ServerDefinition, { shadows }: Pick<ConfiguredServer, "shadows">): Field[] {
  const { origin, transport, trust, variables } = definition;
  return [
    { label: safe`written in`, values: [positionText(origin, show)] },
    {
      label: safe`replaces`,
      values: shadows.map((from) => safe`your entry ${positionText(from, show)} (${show(from.scope)})`),
    },
    { label: safe`transport`, values: [show(transportWord(transport.kind))] },
    ...transportFields(transport, show),
    { label: safe`resolves to`, values: approvedValues(definition) },
    { label: safe`runs`, values: (definition.programs ?? []).map(programText) },
    { label: safe`variables`, values: variables.map((use) => variableText(use, definition)) },
    { label: safe`secrets`, values: secretValues(definition, show) },
    ...optionFields(definition, { show, hide: (text) => text }),
    { label: safe`machineAuth`, values: machineValues(definition) },
    { label: safe`trust: true`, values: trust ? [safe`the server's tools run without confirmation`] : [] },
    { label: safe`note`, values: launchNotes(definition).map(show) },
  ];
}

/** Shows which credentials of this machine the server may use, and where they are sent. */
function machineValues(definition: ServerDefinition): SafeText[] {
  const settings = describeMachineAuth(definition);
  if (settings === undefined) return [];
  const { kind, clientId, privateKeyFile, assertionFile, assertionEnv, assertionFrom, issuer, tokenUrl } = settings;
  const [origin] = definition.extras.machineAuth ? [definition.extras.machineAuth.origin] : [];
  const uses = { clientId, privateKeyFile, assertionFile, assertionEnv, assertionFrom };
  return [
    safe`your settings${origin === undefined ? safe`` : safe` (${positionText(origin, show)})`} let this server use this machine's credentials (${show(kind)})`,
    ...Object.entries(uses).flatMap(([key, value]) =>
      value === undefined ? [] : [safe`${show(key)}: ${show(value)}`],
    ),
    safe`sent to ${show(tokenUrl ?? issuer ?? "the authorization server that the server names")}`,
    safe`the token goes to the server's address above`,
  ];
}

/**
 * Returns a program's path as text. Adds the digest of a workspace file, because the approval covers the file's
 * content.
 */
function programText({ file, digest }: NonNullable<ServerDefinition["programs"]>[number]): SafeText {
  if (digest !== undefined) return safe`${show(file)} (SHA-256 ${show(digest.slice(0, 12))}…)`;
  return isAbsolute(file) ? show(file) : safe`${show(file)} (not found)`;
}

/**
 * Formats a variable. The value is shown only if it comes from a workspace file, because the user's own values may be
 * secrets.
 */
function variableText(use: VariableUse, { values }: ServerDefinition): SafeText {
  const words = safe`${show(use.name)} ${variableWords[use.from]}`;
  return use.from === "workspace-env-file" ? safe`${words}: ${show(values.get(use.name) ?? "")}` : words;
}

/** Returns the resolved values that differ from the text of the entry. */
function approvedValues(definition: ServerDefinition): SafeText[] {
  const { transport, resolved, base, authentication } = definition;
  const render = renderer(shownValues(definition));
  const shown = resolveTransport(transport, base, render);
  const endpoints = authentication.provider === "sa-impersonation" ? {} : authentication.oauth;
  return [
    ...(shown.kind === "stdio" ? programValues(transport, shown, resolved) : addressValues(transport, shown, resolved)),
    ...Object.entries(endpoints).flatMap(([key, value]: [string, unknown]) =>
      [value].flat().flatMap((text) => {
        const rendered = typeof text === "string" ? render(text) : "";
        return typeof text === "string" && isOther(rendered, text) ? [safe`oauth.${show(key)}: ${show(rendered)}`] : [];
      }),
    ),
  ];
}

type Stdio = Extract<Transport, { kind: "stdio" }>;
type Http = Exclude<Transport, Stdio>;

function programValues(written: Transport, shown: Stdio, resolved: Transport | undefined): SafeText[] {
  if (written.kind !== "stdio") return [];
  // The command and the working folder are shown with the values of their variables: paths are not secrets.
  const { command, cwd } = resolved?.kind === "stdio" ? resolved : shown;
  const areOther = shown.args.some((word, at) => isOther(word, written.args[at] ?? ""));
  return [
    ...(areOther || command !== written.command ? [show(command)] : []),
    ...(areOther ? numbered(shown.args.map(show)) : []),
    ...pairs(othersOf(shown.env, written.env), safe`=`, show),
    ...(cwd === undefined || cwd === written.cwd ? [] : [safe`in ${show(cwd)}`]),
  ];
}

function addressValues(written: Transport, shown: Http, resolved: Transport | undefined): SafeText[] {
  if (written.kind === "stdio") return [];
  const reached = resolved?.kind === "stdio" || resolved === undefined ? undefined : optionalOrigin(resolved.url);
  return [
    ...(isOther(shown.url, written.url) ? [show(shown.url)] : []),
    ...(reached === undefined || reached === optionalOrigin(shown.url) ? [] : [show(reached)]),
    ...pairs(othersOf(shown.headers, written.headers), safe`: `, show),
  ];
}

function othersOf(
  shown: ReadonlyMap<string, string>,
  written: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  return new Map([...shown].filter(([name, value]) => isOther(value, written.get(name) ?? "")));
}

/** Whether the shown value differs from the value in the entry. `$NAME` and `${NAME}` count as the same. */
function isOther(shown: string, written: string): boolean {
  const spelt = written.replaceAll(/\$\$|\$([A-Za-z_]\w*)/g, (all, name?: string) =>
    name === undefined ? all : `\${${name}}`,
  );
  return shown !== spelt;
}

/** Returns the values that may be shown. The user's own values may be secrets, so only their placeholders are shown. */
function shownValues({ variables, values }: ServerDefinition): ReadonlyMap<string, string> {
  return new Map(
    variables.flatMap(({ name, from }) => {
      const isOwn = from === "environment" || from === "user-env-file" || from === "file";
      const value = isOwn ? `\${${name}}` : values.get(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

function optionalOrigin(url: string): string | undefined {
  return parseUrl(url)?.origin;
}
