/** Formats one server in full as labelled lines. `mcp get` hides values. `trust add` shows values exactly. */

import type {
  Authentication,
  ConfiguredServer,
  Origin,
  Problem,
  ServerDefinition,
  Transport,
  VariableUse,
} from "@fairlead/core/settings/define/definition";
import { joinSafe, padSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { parseUrl } from "@fairlead/wire/text";

/** A label with its values, one part of a server's details. */
export interface Field {
  readonly label: SafeText;
  /** The values, one for each line. A field without values is not shown. */
  readonly values: readonly SafeText[];
}

/** Makes untrusted text printable: `toSafeLine`, or `toVisibleLine` for text that the user decides about. */
export type Show = (text: string) => SafeText;

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
export function numbered(values: readonly SafeText[]): SafeText[] {
  return values.map((value, at) => safe`${at + 1}: ${value}`);
}

/** Returns a text such as `NAME=value` for each variable or header. `between` is the separator. */
export function pairs(values: ReadonlyMap<string, string>, between: SafeText, show: Show): SafeText[] {
  return [...values].map(([name, value]) => safe`${show(name)}${between}${show(value)}`);
}

/** Returns the resolved command, folder or URL, and where variables come from. Hides values that may be secrets. */
export function resolvedFields(definition: ServerDefinition, show: Show): Field[] {
  const { variables, secrets } = definition;
  return [
    { label: safe`resolves to`, values: resolvedValues(definition, show) },
    { label: safe`variables`, values: variables.map((use) => safe`${show(use.name)} ${variableWords[use.from]}`) },
    { label: safe`secrets`, values: secrets.map((name) => safe`${show(name)} from the secret store`) },
  ];
}

/** Returns the resolved command and folder, or the origin of the resolved URL, if they differ from the entry. */
export function resolvedValues({ transport: written, resolved }: ServerDefinition, show: Show): SafeText[] {
  if (resolved === undefined) return [];
  if (resolved.kind !== "stdio")
    return written.kind !== "stdio" && written.url === resolved.url ? [] : [show(originOf(resolved.url))];
  const before: { readonly command?: string; readonly cwd?: string } = written.kind === "stdio" ? written : {};
  return [
    ...(resolved.command === before.command ? [] : [show(resolved.command)]),
    ...(resolved.cwd === undefined || resolved.cwd === before.cwd ? [] : [safe`in ${show(resolved.cwd)}`]),
  ];
}

function originOf(url: string): string {
  return parseUrl(url)?.origin ?? url;
}

/** Where the value of a variable comes from, in words. */
export const variableWords: Readonly<Record<VariableUse["from"], SafeText>> = {
  environment: safe`from the environment`,
  "user-env-file": safe`from your .env file`,
  "workspace-env-file": safe`from the workspace's .env file`,
  "workspace-root": safe`is the workspace root`,
  default: safe`from the default in the entry`,
  unset: safe`is not set`,
  "not-looked-up": safe`is not looked up in an untrusted folder`,
};

/** How to print the options of an entry. */
export interface OptionLook {
  readonly show: Show;
  /** Replaces a client secret by a placeholder. */
  readonly hide: (text: string) => string;
}

/** Returns all options of an entry except its transport. */
export function optionFields(definition: ServerDefinition, { show, hide }: OptionLook): Field[] {
  const { authentication, timeout, includeTools, excludeTools } = definition;
  const words = (names: readonly string[]): SafeText =>
    names.length === 0 ? safe`(none)` : joinSafe(names.map(show), safe`, `);
  const facts = Object.entries(authenticationDocument(authentication, hide)).map(([key, value]) =>
    show(`${key}: ${String(value)}`),
  );
  return [
    // An entry that has only the default provider `oauth` configures no sign-in, so the sign-in field is not shown.
    { label: safe`sign-in`, values: authentication.provider === "oauth" && facts.length === 1 ? [] : facts },
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
