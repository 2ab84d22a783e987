/** `fairlead mcp get`: shows one server's definition and status, with literal values hidden. */

import {
  authenticationDocument,
  definitionFields,
  type Field,
  layout,
  positionText,
  problemLines,
  rootFolders,
  transportWord,
  trustValues,
} from "@fairlead/console/server/words/server-details";
import { launchNotes } from "@fairlead/console/server/words/server-notes";
import {
  hideLiteral,
  missingSecretLines,
  missingSecrets,
  redact,
} from "@fairlead/console/server/words/server-redaction";
import type { SignInState } from "@fairlead/core/auth";
import type { ServerFlag } from "@fairlead/core/host";
import { type ServerDefinition, sandboxDocument, type Transport } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { type AdmittedServer, type Configuration, type EntryTrust, entryTrust } from "@fairlead/core/trust";
import { type Output, unlessEmpty } from "../../output/output.ts";
import { signInDocument, signInWords, statusDocument, statusWords } from "../../output/servers/server-state.ts";
import { flagLines } from "../../output/tools/lists.ts";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
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
    const flags = await cachedFlags(found, configuration, context);
    if (globals.json)
      return out.json({
        ...document(found, configuration),
        signIn: signIn && signInDocument(signIn),
        flags: unlessEmpty(flags),
      });
    const missing = await missingSecrets({ ...configuration, servers: [found] }, context);
    out.show(out.style.bold(toSafeLine(found.server.name)));
    out.show(layout(fields(found, configuration, out.typed, missing, signIn), safe`  `));
    for (const line of flagLines(flags, out.style, safe`  `)) out.show(line);
    for (const problem of found.server.problems) out.show(out.typed(safe`  ${problemLines(problem)}`));
  },
};

/** Returns the flags of the server's cached catalog. This command connects to no server. */
async function cachedFlags(
  { server: { name }, admission }: AdmittedServer,
  configuration: Configuration,
  context: Context,
): Promise<readonly ServerFlag[]> {
  if (admission.status !== "admitted") return [];
  const { useHost } = await import("../../targets/with-host.ts");
  return useHost(configuration, context, async (host) => {
    await host.recall();
    return host.flags(name);
  });
}

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
  const {
    timeout,
    trust,
    description,
    includeTools,
    excludeTools,
    variables,
    secrets,
    commands,
    fingerprint,
    resolved,
  } = definition;
  return {
    ...transportDocument(redact(definition.transport)),
    resolvedCommand: resolved?.kind === "stdio" ? resolved.command : undefined,
    variables,
    secrets,
    commands,
    authentication: authenticationDocument(definition.authentication, hideLiteral),
    timeout,
    roots: rootFolders(definition, configuration),
    sandbox: sandboxDocument(definition),
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

/** Returns the member `trustEffect` of the server's JSON. Absent without `"trust": true`. */
function trustDocument(server: AdmittedServer, configuration: Configuration): { readonly trustEffect?: EntryTrust } {
  const trustEffect = entryTrust(server, configuration);
  return trustEffect === undefined ? {} : { trustEffect };
}
