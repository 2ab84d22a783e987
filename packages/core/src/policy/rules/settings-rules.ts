/**
 * Converts settings to rules: deny rules for excluded tools and servers, allow rules for servers with `trust`, and
 * strict rules for unreadable files. Pure.
 */

import type { Gate, Scope, SettingsFile } from "../../settings/define/definition.ts";
import type { AdmittedServer, Configuration } from "../../trust/configuration.ts";
import { entryTrust } from "../../trust/entry-trust.ts";
import { exactName, type NamePattern } from "./name-pattern.ts";
import type { PolicyRule, Tier } from "./rule.ts";

/** The rules from all settings files. In an untrusted workspace, `trust` gives no rules. */
export function rulesOfSettings(configuration: Configuration): readonly PolicyRule[] {
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
    denyMessage: "the restrictions in this file are unknown until the file is corrected",
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
    ...(server === undefined ? {} : { server: exactName(server) }),
    ...(tools === undefined ? {} : { kind: "tool", tool: toPattern(tools) }),
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
