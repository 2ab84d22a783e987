/** `fairlead mcp get`: shows one server's definition and status, with literal values hidden. */

import type { SignInState } from "@fairlead/core/auth";
import type { ServerDefinition, Transport } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type AdmittedServer, type Configuration, type EntryTrust, entryTrust } from "@fairlead/core/trust";
import type { Output } from "../../output/output.ts";
import {
  authenticationDocument,
  type Field,
  layout,
  optionFields,
  positionText,
  problemLines,
  resolvedFields,
  rootFolders,
  rootsWords,
  transportFields,
  transportWord,
} from "../../output/servers/server-details.ts";
import { launchNotes } from "../../output/servers/server-notes.ts";
import { hideLiteral, missingSecretLines, missingSecrets, redact } from "../../output/servers/server-redaction.ts";
import { signInDocument, signInWords, statusDocument, statusWords } from "../../output/servers/server-state.ts";
import { configurationOf } from "../../shell/configuration.ts";
import type { Verb } from "../../shell/verb.ts";
import { findServer } from "./find-server.ts";

export const verb: Verb = {
  help: `
Shows the entry's file and line, its command or URL, the entries it replaces, and whether the server may start.
Placeholders like $TOKEN are shown; literal values of variables and headers are hidden.

Examples:
  fairlead mcp get github
  fairlead mcp get github --json`,

  define: (command) => command.argument("<name>", "name of the server (see: fairlead mcp list)"),

  async run(context) {
    const { out, globals, operands } = context;
    const configuration = await configurationOf(context);
    const found = findServer(configuration, operands[0] ?? "");
    const signIn = await signInOf(found, configuration);
    if (globals.json) return out.json({ ...document(found, configuration), signIn: signIn && signInDocument(signIn) });
    const missing = await missingSecrets({ ...configuration, servers: [found] }, context);
    out.show(out.style.bold(toSafeLine(found.server.name)));
    out.show(layout(fields(found, configuration, out.typed, missing, signIn), safe`  `));
    for (const problem of found.server.problems) out.show(out.typed(safe`  ${problemLines(problem)}`));
  },
};

/** Returns the sign-in state. Undefined if the server is a stdio server, or if the token store cannot be opened. */
async function signInOf(
  { server: { definition } }: AdmittedServer,
  configuration: Configuration,
): Promise<SignInState | undefined> {
  if (definition === undefined || definition.transport.kind === "stdio") return undefined;
  const { signInReader } = await import("../../sign-in/read-state.ts");
  return signInReader(configuration)(definition).catch(() => undefined);
}

function fields(
  { server, admission }: AdmittedServer,
  configuration: Configuration,
  typed: Output["typed"],
  missing: ReadonlySet<string>,
  signIn: SignInState | undefined,
): Field[] {
  const { scope, origin, shadows, definition } = server;
  const refused = admission.status !== "admitted";
  return [
    { label: safe`status`, values: [statusWords(admission)] },
    { label: safe`why`, values: refused ? [toSafeLine(admission.message)] : [] },
    { label: safe`next`, values: refused && admission.next !== undefined ? [typed(toSafeLine(admission.next))] : [] },
    { label: safe`signed in`, values: signIn === undefined ? [] : [signInWords(signIn)] },
    { label: safe`written in`, values: [safe`${positionText(origin)} (${toSafeLine(scope)})`] },
    { label: safe`replaces`, values: shadows.map((from) => safe`${positionText(from)} (${toSafeLine(from.scope)})`) },
    { label: safe`transport`, values: [transportWords(definition?.transport)] },
    ...(definition === undefined
      ? []
      : definitionFields(definition, configuration, trustValues({ server, admission }, configuration, typed))),
    { label: safe`warning`, values: missingSecretLines(definition?.secrets ?? [], missing).map(typed) },
  ];
}

function definitionFields(
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

function transportWords(transport: Transport | undefined): SafeText {
  if (transport?.kind === "http-or-sse") return safe`http, then sse`;
  return toSafeLine(transportWord(transport?.kind));
}

function document({ server, admission }: AdmittedServer, configuration: Configuration): object {
  const { name, scope, origin, kind, shadows, problems, definition } = server;
  return {
    name,
    ...statusDocument(admission),
    transport: transportWord(kind),
    scope,
    origin,
    shadows,
    ...(definition && definitionDocument(definition, configuration)),
    ...trustDocument({ server, admission }, configuration),
    problems,
  };
}

function definitionDocument(definition: ServerDefinition, configuration: Configuration): object {
  const { timeout, trust, description, includeTools, excludeTools, variables, secrets, fingerprint, resolved } =
    definition;
  return {
    ...transportDocument(redact(definition.transport)),
    resolvedCommand: resolved?.kind === "stdio" ? resolved.command : undefined,
    variables,
    secrets,
    authentication: authenticationDocument(definition.authentication, hideLiteral),
    timeout,
    roots: rootFolders(definition, configuration),
    trust,
    description,
    includeTools,
    excludeTools,
    fingerprint,
    notes: launchNotes(definition),
  };
}

function transportDocument(transport: Transport): object {
  if (transport.kind !== "stdio") return { url: transport.url, headers: Object.fromEntries(transport.headers) };
  const { command, args, env, cwd } = transport;
  return { command, args, env: Object.fromEntries(env), cwd };
}

// Says whether `"trust": true` of a server has an effect, as text and as JSON.

/** Returns what `"trust": true` does, and the next step if it does nothing. Empty without `"trust": true`. */
function trustValues(
  server: AdmittedServer,
  configuration: Configuration,
  typed: Output["typed"],
): readonly SafeText[] {
  const found = entryTrust(server, configuration);
  if (found === undefined) return [];
  if (found.counts) return [safe`true: the server's tools run without confirmation`];
  const reason = safe`true, but it has no effect: ${toVisibleLine(found.reason)}`;
  // For a server that may not start, the field `next` has the step already.
  const hasNext = server.admission.status === "admitted" && found.next !== undefined;
  return hasNext ? [reason, typed(safe`next: ${toVisibleLine(found.next)}`)] : [reason];
}

/** Returns the member `trustEffect` of the server's JSON. Absent without `"trust": true`. */
function trustDocument(server: AdmittedServer, configuration: Configuration): { readonly trustEffect?: EntryTrust } {
  const trustEffect = entryTrust(server, configuration);
  return trustEffect === undefined ? {} : { trustEffect };
}
