/**
 * Decides whether a configured server may start. If not, gives the reason and the next command for the user. `admit` is
 * pure.
 */

import { HostError } from "../errors.ts";
import {
  type ConfiguredServer,
  type DisablingOrigin,
  type Origin,
  optionOrigin,
  type ServerDefinition,
  type Settings,
  typedOrigin,
} from "../settings/define/definition.ts";
import type { Locations } from "../settings/read/paths.ts";
import { toShellWord } from "../text/shell-word.ts";
import { type Approvable, type Approval, approvedSandbox, isApprovedBy } from "./approvals.ts";
import { readPrograms } from "./approved-programs.ts";
import { isOwnGateway } from "./own-entry.ts";
import type { ProgramPlace } from "./programs.ts";
import type { TrustDecision } from "./trust-decision.ts";

/** Whether Fairlead may start a server, and the reason if it may not. */
export type Admission =
  | { readonly status: "admitted" }
  | { readonly status: "disabled"; readonly reason: "user"; readonly message: string; readonly next: string }
  | {
      readonly status: "blocked";
      readonly reason: "awaiting_approval" | "untrusted_folder" | "not_allowed" | "excluded";
      readonly message: string;
      readonly next: string;
    }
  | {
      readonly status: "disconnected";
      readonly reason: "settings_invalid" | "variable_unset";
      readonly message: string;
      readonly next?: string;
    };

/** The facts about the workspace that decide which servers may start. */
export interface AdmissionFacts {
  readonly trust: TrustDecision;
  readonly settings: Pick<Settings, "allowed" | "excluded">;
  /** The approvals of this workspace, by server name. */
  readonly approvals: ReadonlyMap<string, Approval>;
  readonly locations: Pick<Locations, "root" | "rootFrom">;
}

/**
 * Decides whether a server may start. The checks, in order: disabled, allow and deny lists, trust, approval, Fairlead
 * itself, mistakes in the entry.
 */
export function admit(server: ConfiguredServer, facts: AdmissionFacts): Admission {
  return (
    switchedOff(server) ??
    excluded(server, facts) ??
    notAllowed(server, facts) ??
    untrusted(server, facts) ??
    unapproved(server, facts) ??
    itself(server) ??
    mistaken(server) ?? { status: "admitted" }
  );
}

type Named = Pick<ConfiguredServer, "name">;
type Lists = Pick<AdmissionFacts, "settings">;

/** Decides whether a built-in server may start. The setting `enabled` and the allow and deny lists can stop it. */
export function admitBuiltIn(
  name: string,
  settings: Pick<Settings, "allowed" | "excluded" | "switchedOff">,
): Admission {
  const origin = settings.switchedOff.get(name);
  const off = origin && switchedOff({ name, enabled: false, disabledBy: origin });
  return off ?? excluded({ name }, { settings }) ?? notAllowed({ name }, { settings }) ?? { status: "admitted" };
}

/**
 * Denies a server that the settings disable. If `fairlead mcp enable` does not edit the file that disables the server,
 * the user must edit it.
 */
function switchedOff(server: Pick<ConfiguredServer, "name" | "enabled" | "disabledBy">): Admission | undefined {
  const { name, enabled, disabledBy } = server;
  if (enabled) return undefined;
  const where = disabledBy === undefined ? "" : ` in ${fileAndLine(disabledBy)}`;
  return {
    status: "disabled",
    reason: "user",
    message: disabledBy?.inEntry
      ? `"${name}" is disabled: its entry has "disabled": true${where}`
      : `"${name}" is disabled: fairlead.servers.${name}.enabled is false${where}`,
    next:
      disabledBy === undefined || canEnable(disabledBy)
        ? `fairlead mcp enable ${toShellWord(name)}`
        : disabledBy.inEntry
          ? `Remove "disabled": true from the entry of "${name}"${where}.`
          : `Remove "enabled": false from fairlead.servers.${name}${where}.`,
  };
}

/** Whether `fairlead mcp enable` can remove the setting: it edits the user's file, and the entry wherever it is. */
function canEnable({ scope, file, inEntry }: DisablingOrigin): boolean {
  if (file === optionOrigin || file === typedOrigin) return false;
  return scope === "user" || (scope === "workspace" && inEntry === true);
}

type Blocked = Extract<Admission, { readonly status: "blocked" }>;

function blocked(reason: Blocked["reason"], message: string, next: string): Blocked {
  return { status: "blocked", reason, message, next };
}

function excluded({ name }: Named, { settings }: Lists): Admission | undefined {
  if (!settings.excluded.names.has(name)) return undefined;
  const where = filesAndLines(settings.excluded.origins);
  const next = `Remove "${name}" from mcp.excluded in ${where}.`;
  return blocked("excluded", `"${name}" is excluded by mcp.excluded in ${where}`, next);
}

function notAllowed({ name }: Named, { settings }: Lists): Admission | undefined {
  if (settings.allowed === undefined || settings.allowed.names.has(name)) return undefined;
  const where = filesAndLines(settings.allowed.origins);
  const next = `Add "${name}" to mcp.allowed in ${where}.`;
  return blocked("not_allowed", `"${name}" is not listed in mcp.allowed in ${where}`, next);
}

function untrusted(
  { name, scope, origin }: ConfiguredServer,
  { trust, locations }: AdmissionFacts,
): Admission | undefined {
  if (scope !== "workspace" || trust.trusted) return undefined;
  const where = `belongs to ${locations.root}, a folder that is not trusted: ${trust.detail}`;
  return blocked("untrusted_folder", `"${name}" (${fileAndLine(origin)}) ${where}`, howToTrust(trust, locations));
}

/**
 * How the user can trust the folder. If an environment variable or the IDE makes the folder untrusted, a new trust rule
 * would have no effect.
 */
export function howToTrust({ source, detail }: TrustDecision, locations: AdmissionFacts["locations"]): string {
  if (source === "environment") return `Remove ${detail} from the environment.`;
  if (source === "ide") return "Trust the folder in the IDE, or set ide.enabled to false in your settings.";
  return source === "embedder"
    ? 'The program that embeds Fairlead must trust the folder: set its host option "trust" to true.'
    : trustAdd(locations);
}

/**
 * Denies a workspace server that is not approved. If the entry is invalid, reports its mistake, because an invalid
 * entry cannot be approved.
 */
function unapproved(
  { name, scope, origin, definition }: ConfiguredServer,
  facts: AdmissionFacts,
): Admission | undefined {
  if (scope !== "workspace" || definition === undefined || facts.trust.approvesEntries) return undefined;
  const approval = facts.approvals.get(name);
  if (isApprovedBy(approval, definition)) return undefined;
  const message = `"${name}" (${fileAndLine(origin)}) ${whyUnapproved(approval, definition)}`;
  return blocked("awaiting_approval", message, trustAdd(facts.locations));
}

/** Returns why the approval does not cover the server, as the end of a sentence ("has changed since …"). */
export function whyUnapproved(approval: Approval | undefined, server: Approvable): string {
  const { fingerprint, programs = [] } = server;
  if (approval === undefined) return "has not been approved yet";
  if (approval.fingerprint !== fingerprint) {
    const [before, now] = [approval.sandbox, approvedSandbox(server)].map((line) => line ?? "not sandboxed");
    return `has changed since you approved it${before === now ? "" : `: it was ${before}; it is now ${now}`}`;
  }
  const [approved] = approval.programs ?? [];
  const other = programs.find(({ file }, at) => file !== approved?.[at]?.file);
  if (approved === undefined)
    return `was approved before approvals covered programs; it would run: ${programs.map(({ file }) => file).join(", ")}`;
  if (other !== undefined) return `would run another program than you approved: ${other.file}`;
  const changed = programs.find(({ digest }, at) => digest !== approved[at]?.digest);
  return changed === undefined
    ? "would run fewer files than you approved"
    : `would run a file that has changed since you approved it: ${changed.file}`;
}

/**
 * Checks just before a server starts that its program files are still the approved ones.
 *
 * @throws HostError `awaiting_approval`
 */
export async function checkApprovedPrograms(definition: ServerDefinition, context: ProgramPlace): Promise<void> {
  const { name, fingerprint, programs, resolved } = definition;
  if (programs === undefined || resolved?.kind !== "stdio") return;
  const now = { name, fingerprint, programs: await readPrograms(resolved, context) };
  const approval = { fingerprint, approvedAt: "", programs: [programs] };
  if (!isApprovedBy(approval, now))
    throw new HostError("awaiting_approval", `"${name}" ${whyUnapproved(approval, now)}`, {
      serverName: name,
      next: "fairlead trust add",
    });
}

/**
 * Denies a server that is Fairlead's own gateway. Fairlead writes such entries for other programs, and some of these
 * programs use the same settings file as Fairlead.
 */
function itself({ name, origin, definition }: ConfiguredServer): Admission | undefined {
  if (!isOwnGateway(definition?.resolved ?? definition?.transport)) return undefined;
  return {
    status: "disconnected",
    reason: "settings_invalid",
    message: `"${name}" (${fileAndLine(origin)}) is not started: it is Fairlead's own gateway (fairlead serve), which is for other programs`,
    next: `fairlead mcp disable ${toShellWord(name)}`,
  };
}

function mistaken({ name, origin, definition, problems }: ConfiguredServer): Admission | undefined {
  const problem = problems.find(({ severity }) => severity === "error");
  if (problem !== undefined)
    return {
      status: "disconnected",
      reason: problem.code,
      message: problem.origin === undefined ? problem.message : `${problem.message} (${fileAndLine(problem.origin)})`,
      next: problem.next,
    };
  if (definition !== undefined) return undefined;
  return {
    status: "disconnected",
    reason: "settings_invalid",
    message: `"${name}" (${fileAndLine(origin)}) is not usable`,
  };
}

/**
 * The command that trusts the folder. It names the folder only if an option chose the workspace; otherwise the
 * workspace of the current folder is meant.
 */
function trustAdd({ root, rootFrom }: AdmissionFacts["locations"]): string {
  return rootFrom === "option" ? `fairlead trust add ${toShellWord(root)}` : "fairlead trust add";
}

function fileAndLine({ file, line }: Origin): string {
  return `${file}:${line}`;
}

function filesAndLines(origins: readonly Origin[]): string {
  return origins.map(fileAndLine).join(" and ");
}
