/** One server in full, a label and its values a line: what `mcp get` shows with values hidden and `trust add` exactly. */

import type {
  Authentication,
  Origin,
  ServerDefinition,
  Transport,
  VariableUse,
} from "@fairlead/core/settings/define/definition";
import { joinSafe, padSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { parseUrl } from "@fairlead/wire/text";

export interface Field {
  readonly label: SafeText;
  /** Each on a line of its own. A field without values is not shown. */
  readonly values: readonly SafeText[];
}

/** How foreign text becomes printable: `toSafeLine` to read, `toVisibleLine` to decide. */
export type Show = (text: string) => SafeText;

export function layout(fields: readonly Field[], indent: SafeText): SafeText {
  const shown = fields.filter(({ values }) => values.length > 0);
  const width = Math.max(0, ...shown.map(({ label }) => label.length));
  const lines = shown.flatMap(({ label, values }) =>
    values.map((value, at) => safe`${indent}${padSafe(at === 0 ? label : safe``, width)}  ${value}`),
  );
  return joinSafe(lines);
}

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

/** Numbered, so that an argument with spaces or none at all cannot pass for two or for nothing. */
export function numbered(values: readonly SafeText[]): SafeText[] {
  return values.map((value, at) => safe`${at + 1}: ${value}`);
}

export function pairs(values: ReadonlyMap<string, string>, between: SafeText, show: Show): SafeText[] {
  return [...values].map(([name, value]) => safe`${show(name)}${between}${show(value)}`);
}

/** What the entry comes to on this machine. Expanded arguments and values are left out: secrets may be among them. */
export function resolvedFields(definition: ServerDefinition, show: Show): Field[] {
  const { variables, secrets } = definition;
  return [
    { label: safe`resolves to`, values: resolvedValues(definition, show) },
    { label: safe`variables`, values: variables.map((use) => safe`${show(use.name)} ${variableWords(use.from)}`) },
    { label: safe`secrets`, values: secrets.map((name) => safe`${show(name)} from the secret store`) },
  ];
}

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

export function variableWords(from: VariableUse["from"]): SafeText {
  switch (from) {
    case "environment":
      return safe`from the environment`;
    case "user-env-file":
      return safe`from your .env file`;
    case "workspace-env-file":
      return safe`from the workspace's .env file`;
    case "workspace-root":
      return safe`is the workspace root`;
    case "default":
      return safe`from the default in the entry`;
    case "unset":
      return safe`is not set`;
    case "not-looked-up":
      return safe`is not looked up in an untrusted folder`;
  }
}

export interface OptionLook {
  readonly show: Show;
  /** What becomes of the client's secret. */
  readonly hide: (text: string) => string;
}

/** Everything of an entry beside what it runs or reaches. */
export function optionFields(definition: ServerDefinition, { show, hide }: OptionLook): Field[] {
  const { authentication, timeout, includeTools, excludeTools } = definition;
  const words = (names: readonly string[]): SafeText =>
    names.length === 0 ? safe`(none)` : joinSafe(names.map(show), safe`, `);
  const facts = Object.entries(authenticationDocument(authentication, hide)).map(([key, value]) =>
    show(`${key}: ${String(value)}`),
  );
  return [
    // The provider alone is the default, and says nothing.
    { label: safe`sign-in`, values: authentication.provider === "oauth" && facts.length === 1 ? [] : facts },
    { label: safe`timeout`, values: [safe`${timeout} ms`] },
    { label: safe`includeTools`, values: includeTools === undefined ? [] : [words(includeTools)] },
    { label: safe`excludeTools`, values: excludeTools.length === 0 ? [] : [words(excludeTools)] },
  ];
}

/** What an entry says about signing in. */
export function authenticationDocument(authentication: Authentication, hide: OptionLook["hide"]): object {
  if (authentication.provider === "sa-impersonation") return authentication;
  const { provider, oauth } = authentication;
  const { clientSecret } = oauth;
  return { provider, ...oauth, ...(clientSecret === undefined ? {} : { clientSecret: hide(clientSecret) }) };
}

export function place({ file, line, column }: Origin, show: Show = toSafeLine): SafeText {
  return safe`${show(file)}:${line}:${column}`;
}
