/** Loads the rules from policy files, settings and command-line flags. */

import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { demoName } from "../../demo/name.ts";
import { isInside, leadsNowhere } from "../../files/real-path.ts";
import { explain, systemCode } from "../../files/system-error.ts";
import { limits } from "../../limits.ts";
import type { Gate, Problem, Scope, SettingsFile } from "../../settings/define/definition.ts";
import type { AdmittedServer, Configuration } from "../../trust/configuration.ts";
import { entryTrust } from "../../trust/entry-trust.ts";
import { exactName, type NamePattern, namePattern } from "./name-pattern.ts";
import type { FileTier, ReadPolicyFile } from "./policy-file.ts";
import { isPolicyFile } from "./policy-files.ts";
import type { PolicyRule, Tier } from "./rule.ts";

/** Tools that a command-line flag allows for one run. */
export interface AllowedTools {
  /**
   * The exact name of a server. A pattern is not allowed, because it could match servers that the user did not think
   * of.
   */
  readonly server: string;
  /** The tool's name. If absent, all requests to the server are allowed, except sampling. */
  readonly tool?: string;
  /** Whether `tool` is a pattern with `*` and `?`. By default, `tool` is an exact name. */
  readonly isPattern?: boolean;
}

/** Rules from command-line flags. */
export interface PolicyFlags {
  /** The tools that `--allow server.tool` allows. */
  readonly allow?: readonly AllowedTools[];
}

/** A policy file and whether its rules apply. */
export interface PolicyFileState {
  readonly file: string;
  readonly tier: Tier;
  /**
   * `ignored`: the workspace is not trusted, or the file is a link out of the workspace. `broken`: the file has a
   * mistake, which is in `problems`.
   */
  readonly state: "read" | "ignored" | "broken";
}

/** The rules from policy files, settings and flags, with the problems found while reading them. */
export interface Policies {
  readonly rules: readonly PolicyRule[];
  readonly problems: readonly Problem[];
  readonly files: readonly PolicyFileState[];
}

/** Loads the rules of a configuration. Problems are returned, not thrown. */
export async function loadPolicies(configuration: Configuration, flags: PolicyFlags = {}): Promise<Policies> {
  const { administrator, user, workspace } = configuration.locations.policies;
  const folders = [
    configuration.policies ?? nothing,
    ...(await Promise.all([
      readFolder(administrator, "administrator", configuration),
      readFolder(user, "user", configuration),
      workspace === undefined ? nothing : readFolder(workspace, "workspace", configuration),
    ])),
  ];
  return {
    rules: [
      ...folders.flatMap(({ rules }) => rules),
      ...rulesOfSettings(configuration),
      ...(flags.allow ?? []).flatMap(allowed),
    ],
    problems: [...folders.flatMap(({ problems }) => problems), ...configuration.settings.gateProblems.map(believed)],
    files: folders.flatMap(({ files }) => files),
  };
}

/**
 * Reads policies that are not in a file, such as those that the replicas of a team share. Its rules are those of the
 * administrator. Put it into `Configuration.policies`; several hosts may share it.
 *
 * @param name What messages and rules call it, such as `policy version 12`.
 */
export async function readPolicies(
  text: string,
  name: string,
  servers: Configuration["settings"]["servers"],
): Promise<Policies> {
  const { readPolicyText } = await import("./policy-file.ts");
  const names = servers.map((server) => server.name);
  return toPolicies(name, "administrator", await readPolicyText(text, name, { tier: "administrator", servers: names }));
}

/**
 * Turns a warning into an error. Used for settings that restrict tools or servers: a mistake could remove the
 * restriction.
 */
function believed(problem: Problem): Problem {
  return { ...problem, severity: "error" };
}

const nothing: Policies = { rules: [], problems: [], files: [] };

function allowed({ server, tool, isPattern = false }: AllowedTools): readonly PolicyRule[] {
  const rule = {
    tier: "user",
    decision: "allow",
    priority: 0,
    server: exactName(server),
    origin: { source: "flag", name: "--allow" },
  } as const;
  if (tool !== undefined) return [{ ...rule, tool: isPattern ? namePattern(tool) : exactName(tool) }];
  return (["tool", "resource", "prompt"] as const).map((kind) => ({ ...rule, kind }));
}

async function readFolder(folder: string, tier: FileTier, configuration: Configuration): Promise<Policies> {
  const listed = await listFiles(folder);
  if (listed.length === 0) return nothing;
  const { readPolicyFile, unreadable } = await import("./policy-file.ts");
  if (typeof listed === "string") return toPolicies(folder, tier, unreadable(folder, tier, listed));
  const ignored = (file: string): Policies => ({ ...nothing, files: [{ file, tier, state: "ignored" }] });
  const servers = [...configuration.settings.servers.map(({ name }) => name), demoName];
  const isOurs = tier !== "workspace";
  const read = listed.map(async (file) => {
    if (!isOurs && !configuration.trust.trusted) return ignored(file);
    if (await leadsNowhere(file)) return toPolicies(file, tier, unreadable(file, tier, linkToNowhere));
    if (!isOurs && !(await leadsInto(file, configuration.locations.root)))
      return { ...ignored(file), problems: [ledOut(file)] };
    const found = await readPolicyFile(file, { tier, servers });
    return found === undefined ? nothing : toPolicies(file, tier, found);
  });
  const files = await Promise.all(read);
  return {
    rules: files.flatMap(({ rules }) => rules),
    problems: files.flatMap(({ problems }) => problems),
    files: files.flatMap((each) => each.files),
  };
}

async function listFiles(folder: string): Promise<readonly string[] | string> {
  try {
    const names = (await readdir(folder)).filter(isPolicyFile).sort();
    if (names.length > limits.policyFiles) return `contains more than ${limits.policyFiles} policy files`;
    return names.map((name) => join(folder, name));
  } catch (error) {
    if (systemCode(error) !== "ENOENT") return `cannot be read: ${explain(error)}`;
    return (await leadsNowhere(folder)) ? linkToNowhere : [];
  }
}

const linkToNowhere = "is a broken symbolic link";

function toPolicies(file: string, tier: FileTier, { state, rules, problems }: ReadPolicyFile): Policies {
  return { rules, problems, files: [{ file, tier, state }] };
}

/**
 * Whether the file is in the workspace after links are resolved. A file elsewhere may be private, and an error message
 * could quote it.
 */
async function leadsInto(file: string, root: string): Promise<boolean> {
  const real = await realpath(file).catch(() => undefined);
  return real !== undefined && isInside(real, root);
}

function ledOut(file: string): Problem {
  return {
    severity: "warning",
    code: "settings_invalid",
    message: `${file} is ignored: it is a link out of the workspace`,
    origin: { scope: "workspace", file, line: 1, column: 1 },
  };
}

/** The rules from all settings files. In an untrusted workspace, `trust` gives no rules. */
function rulesOfSettings(configuration: Configuration): readonly PolicyRule[] {
  const { settings, trust, servers } = configuration;
  return [
    ...settings.files.flatMap((file) => (isUnknown(file, trust.trusted) ? unread(file) : [])),
    ...settings.gates.map(closing),
    ...servers.filter((server) => entryTrust(server, configuration)?.counts).flatMap(trusting),
  ];
}

/**
 * The tier of the rules from each kind of settings file. System defaults have the user's tier, because the
 * administrator does not enforce them.
 */
const tiers: Readonly<Record<Scope, Tier>> = {
  system: "administrator",
  user: "user",
  "system-defaults": "user",
  workspace: "workspace",
};

function isUnknown({ scope, state }: SettingsFile, isTrusted: boolean): boolean {
  return state === "broken" && (scope !== "workspace" || isTrusted);
}

/**
 * The rule for a settings file that cannot be read. The file may contain restrictions, so the rule makes decisions
 * stricter.
 */
function unread({ scope, file }: SettingsFile): PolicyRule {
  const tier = tiers[scope];
  return {
    tier,
    decision: tier === "administrator" ? "deny" : "ask_user",
    priority: 999,
    isDoubt: true,
    denyMessage: "the file cannot be read, so its restrictions are unknown",
    origin: { source: "settings", file, name: "unreadable content" },
  };
}

function closing({ setting, origin, server, tools }: Gate): PolicyRule {
  const { scope, file, line } = origin;
  return {
    tier: tiers[scope],
    decision: "deny",
    priority: 999,
    isGate: true,
    server: server === undefined ? undefined : exactName(server),
    kind: tools && "tool",
    tool: tools && toPattern(tools),
    origin: { source: setting === "mcp.excluded" ? "settings" : "permissions", file, line, name: setting },
  };
}

function toPattern(tools: NonNullable<Gate["tools"]>): NamePattern {
  if ("only" in tools) return exactName(tools.only);
  const permitted = new Set(tools.allBut);
  const text = tools.allBut.length === 0 ? "*" : `all but ${tools.allBut.join(", ")}`;
  return { text, matches: (name) => !permitted.has(name) };
}

/** The rules for a server with `trust`. They cover its tools and resources, but not its sampling requests. */
function trusting({ server: { name, origin } }: AdmittedServer): readonly PolicyRule[] {
  const { file, line } = origin;
  return (["tool", "resource"] as const).map((kind) => ({
    tier: "user",
    decision: "allow",
    priority: -1,
    server: exactName(name),
    kind,
    origin: { source: "trust", file, line, name: "trust" },
  }));
}
