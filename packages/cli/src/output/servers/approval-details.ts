/**
 * Shows everything that a user approves about a server: the entry as written, its resolved values, and where each value
 * comes from.
 */

import { isAbsolute } from "node:path";
import type {
  ConfiguredServer,
  ServerDefinition,
  Transport,
  VariableUse,
} from "@fairlead/core/settings/define/definition";
import { describeMachineAuth, renderer, resolveTransport } from "@fairlead/core/settings/define/expand";
import { type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { parseUrl } from "@fairlead/wire/text";
import {
  type Field,
  numbered,
  optionFields,
  pairs,
  positionText,
  transportFields,
  transportWord,
  variableWords,
} from "./server-details.ts";
import { launchNotes } from "./server-notes.ts";

const show = toVisibleLine;

/** Returns the fields to show before an approval. Hidden characters are made visible. */
export function approvalFields(definition: ServerDefinition, { shadows }: Pick<ConfiguredServer, "shadows">): Field[] {
  const { origin, transport, trust, variables, secrets } = definition;
  return [
    { label: safe`written in`, values: [positionText(origin, show)] },
    {
      label: safe`replaces`,
      values: shadows.map((from) => safe`your entry ${positionText(from, show)} (${show(from.scope)})`),
    },
    { label: safe`transport`, values: [show(transportWord(transport.kind))] },
    ...transportFields(transport, show),
    { label: safe`resolves to`, values: resolvedValues(definition) },
    { label: safe`runs`, values: (definition.programs ?? []).map(programText) },
    { label: safe`variables`, values: variables.map((use) => variableText(use, definition)) },
    { label: safe`secrets`, values: secrets.map((name) => safe`${show(name)} from the secret store`) },
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
function resolvedValues(definition: ServerDefinition): SafeText[] {
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
  const reached = resolved?.kind === "stdio" || resolved === undefined ? undefined : originOf(resolved.url);
  return [
    ...(isOther(shown.url, written.url) ? [show(shown.url)] : []),
    ...(reached === undefined || reached === originOf(shown.url) ? [] : [show(reached)]),
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
      const isOwn = from === "environment" || from === "user-env-file";
      const value = isOwn ? `\${${name}}` : values.get(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

function originOf(url: string): string | undefined {
  return parseUrl(url)?.origin;
}
