/** Turns a settings entry into a `ServerDefinition`, which all further code uses instead of the entry. */

import { createHash } from "node:crypto";
import type { Node } from "../../files/json/jsonc.ts";
import { canonicalOf, childNode, numberOf, stringNode, switchOf, textListIn, textsOf } from "../read/nodes.ts";
import type { SettingsSource } from "../read/source.ts";
import { isReserved, type Lookup } from "../read/variables.ts";
import { defaults } from "../schema/defaults.ts";
import { machineAuthSchema } from "../schema/server-extras-schema.ts";
import { whyNotUrl } from "../schema/validate.ts";
import type {
  Authentication,
  MachineAuth,
  Problem,
  SandboxSettings,
  ServerDefinition,
  ServerExtras,
  Transport,
} from "./definition.ts";
import { readAuthentication } from "./entry-authentication.ts";
import { type ReportProblem, readTransport } from "./entry-transport.ts";
import {
  commandPrefix,
  type PathBase,
  parseVariables,
  renderer,
  resolveCommand,
  resolveTransport,
  valueOfVariable,
} from "./expand.ts";
import { readMachineAuth } from "./machine-auth.ts";
import { findVariables, type Mentions, type Mistake } from "./mentions.ts";
import { readSandbox, type SandboxChoice } from "./sandbox-settings.ts";

/** What `defineServer` needs besides the entry: its file, the variables and Fairlead's own settings. */
export interface EntryContext {
  readonly source: SettingsSource;
  /** The syntax node of the server's name. Messages show the position of this node. */
  readonly at: Node;
  /**
   * Looks up variables. Undefined for an entry of an untrusted workspace, whose variables Fairlead does not look up.
   */
  readonly lookup: Lookup | undefined;
  readonly base: PathBase;
  readonly extras: ServerExtras;
  /** Where the profile of the server's sandbox is written. Undefined if the server has no sandbox. */
  readonly sandbox?: SandboxChoice | undefined;
  /** The syntax node of `machineAuth` in the user's or the system's settings. */
  readonly machine?: { readonly source: SettingsSource; readonly node: Node; readonly lookup: Lookup };
  /** Problems that validation has found in the entry. */
  readonly found: readonly Problem[];
}

/** The server definition and all problems. `definition` is absent if the entry is invalid. */
export interface DefineResult {
  readonly kind: Transport["kind"] | undefined;
  readonly definition?: ServerDefinition;
  readonly problems: readonly Problem[];
}

/** Checks an entry and fills in the defaults. Reports mistakes in `problems`; does not throw. */
export function defineServer(name: string, entry: Node, context: EntryContext): DefineResult {
  const problems = [...context.found];
  const add: AddProblem = (problem, node, next, source = context.source) => {
    const message = `server "${name}": ${problem.message}`;
    problems.push({ ...problem, message, origin: source.originOf(node), serverName: name, next });
  };
  const report: ReportProblem = (severity, node, message, next) =>
    add({ severity, code: "settings_invalid", message }, node, next);

  const transport = readTransport(entry, report);
  const authentication = transport && readAuthentication(entry, transport.kind, report);
  const isWorkspace = context.source.scope === "workspace";
  const mentions = findVariables(entry, context.lookup, { isWorkspace });
  checkMentions(mentions, add, context.source);
  const machine = transport && authentication && defineMachineAuth(transport, authentication, mentions, context, add);

  const sandbox = defineSandbox(transport?.kind, context, add);

  const kind = transport?.kind;
  const isInvalid = problems.some(({ severity, code }) => severity === "error" && code === "settings_invalid");
  if (transport === undefined || authentication === undefined || isInvalid) return { kind, problems };

  const isComplete = context.lookup !== undefined && !problems.some(({ code }) => code === "variable_unset");
  const render = renderer(mentions.values);
  const resolved = isComplete ? resolveTransport(transport, context.base, render) : undefined;
  if (resolved?.kind === "stdio" && resolved.command.trim() === "") {
    report("error", childNode(entry, "command") ?? entry, '"command" is empty once its variables are filled in');
    return { kind, problems };
  }
  const commands = new Set([...mentions.commands, ...(machine?.mentions.commands ?? [])]);
  const definition: ServerDefinition = {
    name,
    scope: context.source.scope,
    origin: context.source.originOf(context.at),
    transport,
    resolved,
    description: stringNode(childNode(entry, "description")),
    variables: [...mentions.variables, ...(machine?.mentions.variables ?? [])],
    values: mentions.values,
    base: context.base,
    secrets: [...new Set([...mentions.secrets, ...(machine?.mentions.secrets ?? [])])],
    ...(commands.size > 0 && { commands: [...commands] }),
    timeout: numberOf(childNode(entry, "timeout")) ?? defaults.timeout,
    trust: switchOf(childNode(entry, "trust")) ?? false,
    includeTools: textListIn(entry, "includeTools"),
    excludeTools: textsOf(childNode(entry, "excludeTools")),
    authentication,
    extras: { ...context.extras, machineAuth: machine?.machineAuth },
    sandbox,
    fingerprint: fingerprintOf(
      entry,
      commandOf(transport, mentions, context.base),
      isWorkspace ? workspaceValues(mentions) : new Map(),
      sandbox,
    ),
  };
  return { kind, definition, problems };
}

/** Adds a problem at a node of the file `source`. By default, `source` is the file that contains the entry. */
type AddProblem = (
  problem: Pick<Problem, "severity" | "code" | "message">,
  node: Node,
  next?: string,
  source?: SettingsSource,
) => void;

/** Reads the profile of the sandbox. Undefined if the server has none. Only programs can run in a sandbox. */
function defineSandbox(
  kind: Transport["kind"] | undefined,
  { sandbox, base }: EntryContext,
  add: AddProblem,
): SandboxSettings | undefined {
  if (sandbox === undefined || kind === undefined) return undefined;
  if (kind === "stdio")
    return readSandbox(sandbox, base, (severity, node, message, next) =>
      add({ severity, code: "settings_invalid", message }, node, next, sandbox.source),
    );
  if (sandbox.isNamed && sandbox.node !== undefined) {
    const message = '"sandbox" has no effect: Fairlead starts no program for this server';
    add({ severity: "warning", code: "settings_invalid", message }, sandbox.node, undefined, sandbox.source);
  }
  return undefined;
}

/** Reads `machineAuth`. Undefined if the settings lack it, or if it has a mistake. */
function defineMachineAuth(
  transport: Transport,
  authentication: Authentication,
  mentions: Mentions,
  { machine, source }: EntryContext,
  add: AddProblem,
): { readonly machineAuth: MachineAuth; readonly mentions: Mentions } | undefined {
  // If the value has a wrong type, validation has already reported this.
  if (machine?.node.type !== "object" && machine?.node.type !== "boolean") return undefined;
  const read = readMachineAuth(machine.node, {
    kind: transport.kind,
    scope: source.scope,
    oauth: authentication.provider === "oauth" ? authentication.oauth : undefined,
    hasOwnHeader:
      transport.kind !== "stdio" && [...transport.headers.keys()].some((name) => /^authorization$/i.test(name)),
  });
  if (read === undefined) return undefined;
  if ("reason" in read) {
    add({ severity: "error", code: "settings_invalid", message: read.reason }, machine.node, read.next, machine.source);
    return undefined;
  }
  // With `machineAuth: true`, the sign-in uses only variables of the entry, which are already in `mentions`.
  const own =
    machine.node.type === "object"
      ? findVariables(machine.node, machine.lookup, {
          schema: machineAuthSchema,
          where: "machineAuth",
          isWorkspace: machine.source.scope === "workspace",
        })
      : { ...mentions, variables: [], mistakes: [], texts: [] };
  checkMentions(own, add, machine.source);
  const machineAuth = { settings: read.settings, values: own.values, origin: machine.source.originOf(machine.node) };
  return { machineAuth, mentions: own };
}

function checkMentions(mentions: Mentions, add: AddProblem, source: SettingsSource): void {
  for (const mistake of mentions.mistakes) {
    const { code, message, next } = explain(mistake);
    add({ severity: "error", code, message }, mistake.text.node, next, source);
  }
  for (const { text, where, node } of mentions.texts) {
    if (!/^op:\/\/[^/]+\/./.test(text)) continue;
    const message = `"${where}" is a reference of 1Password, which Fairlead does not replace`;
    const line = /[\s'"|&;<>()`]/.test(text) ? `'${text}'` : text;
    const next = `write "\${command:op read ${line}}" in your user settings`;
    add({ severity: "warning", code: "settings_invalid", message }, node, next, source);
  }
  checkUrls(mentions, (severity, node, message, next) =>
    add({ severity, code: "settings_invalid", message }, node, next, source),
  );
}

/** The command with its variables expanded. Undefined if a variable has no value. */
function commandOf(transport: Transport, { values }: Mentions, base: PathBase): string | undefined {
  if (transport.kind !== "stdio") return undefined;
  const template = parseVariables(transport.command);
  const isKnown =
    template.kind === "parts" &&
    template.parts.every((part) => part.kind !== "variable" || valueOfVariable(part, values) !== undefined);
  return isKnown ? resolveCommand(transport.command, base, renderer(values)) : undefined;
}

function workspaceValues({ variables, values }: Mentions): ReadonlyMap<string, string> {
  const used = variables.filter(({ from }) => from === "workspace-env-file");
  return new Map(used.map(({ name }) => [name, values.get(name) ?? ""]));
}

/**
 * Checks each URL whose variables all have values. A URL that begins with a secret is checked later, when Fairlead
 * reads the secret.
 */
function checkUrls({ texts, values, secrets, commands }: Mentions, report: ReportProblem): void {
  const names = [...secrets, ...commands.map((line) => `${commandPrefix}${line}`)];
  const render = renderer(values, new Map(names.map((name) => [name, "secret"])));
  for (const { key, text, where, node } of texts) {
    if (key.type !== "text" || key.format === undefined) continue;
    const template = parseVariables(text);
    if (template.kind === "malformed") continue;
    const { parts } = template;
    if (parts.some((part) => part.kind === "variable" && valueOfVariable(part, values) === undefined)) continue;
    if (parts[0]?.kind === "secret" || parts[0]?.kind === "command") continue;
    const reason = whyNotUrl(render(text), key.format);
    const once = parts.some(({ kind }) => kind !== "text") ? " once its variables are filled in" : "";
    // Quotes the URL as written, because the values of its variables may be confidential.
    if (reason !== undefined) report("error", node, `"${where}" is "${text}", which is ${reason}${once}`);
  }
}

function explain(mistake: Mistake): Pick<Problem, "code" | "message" | "next"> {
  const { where } = mistake.text;
  switch (mistake.kind) {
    case "malformed":
      return {
        code: "settings_invalid",
        message: `"${where}" cannot be expanded: ${mistake.reason}`,
        next: "Write $$ for a dollar sign.",
      };
    case "secret-in-path":
      return {
        code: "settings_invalid",
        message: `"${where}" uses the secret ${mistake.secret}; a command and its folder are shown to the user, so they must not contain a secret`,
        next: 'Pass the secret in "env" instead.',
      };
    case "command-in-workspace":
      return {
        code: "settings_invalid",
        message: `"${where}" uses \${command:${mistake.line}}: a workspace's settings must not run commands`,
        next: "Move the entry into your user settings, or store the value: fairlead secret set NAME",
      };
    case "confined":
      return {
        code: "variable_unset",
        message: `"${where}" uses the variable ${mistake.variable}, which only the workspace's .env file sets; Fairlead uses that file only for "env" and "headers" of this entry, because the entry is not in the workspace's settings`,
        next: `Set ${mistake.variable} in the environment or in ~/.gemini/.env.`,
      };
    case "unset":
      if (mistake.variable.startsWith("file:"))
        return {
          code: "variable_unset",
          message: `"${where}" uses \${${mistake.variable}}, but no small file with this absolute path can be read here; only system settings can use files`,
          next: "Correct the path, or use a variable.",
        };
      return {
        code: "variable_unset",
        message: `"${where}" uses the variable ${mistake.variable}, which is not set`,
        next: `Set ${mistake.variable} ${placesFor(mistake.variable)}, or write \${${mistake.variable}:-default}.`,
      };
  }
}

function placesFor(variable: string): string {
  return isReserved(variable) ? "in the environment" : "in the environment or in ~/.gemini/.env";
}

/**
 * Returns a digest of what an approval covers. Approvals, negotiated protocols and cached catalogs are stored with it. If
 * it changes, they no longer apply.
 *
 * @param entry The entry as written. Its `description` is not part of the digest, so a new one needs no new approval.
 * @param command The command with its path and variables resolved. Undefined for a server with a URL, or if a variable
 * is not set.
 * @param workspaceValues The values of variables from the workspace's `.env` files. A changed value needs a new approval.
 * @param sandbox Part of the digest only if there is one, so that older approvals of other servers still apply.
 */
function fingerprintOf(
  entry: Node,
  command: string | undefined,
  workspaceValues: ReadonlyMap<string, string>,
  sandbox: SandboxSettings | undefined,
): string {
  const values = [...workspaceValues].sort(([a], [b]) => (a < b ? -1 : 1));
  const approved = [canonicalOf(entry, ["description"]), JSON.stringify(command ?? null), JSON.stringify(values)];
  if (sandbox !== undefined) {
    const { read, write, hosts, tcp, env } = sandbox;
    approved.push(JSON.stringify([read, write, hosts, tcp, env].map((list) => [...list].sort())));
  }
  return createHash("sha256").update(approved.join("\n")).digest("hex");
}
