/** What the settings say about consent: what they close, and whom they trust. Pure. `mcp.allowed` says which servers may start; it approves nothing. */

import type { Gate, Scope, SettingsFile } from "../../settings/define/definition.ts";
import type { AdmittedServer, Configuration } from "../../trust/configuration.ts";
import { exactName, type NamePattern } from "./name-pattern.ts";
import type { PolicyRule, Tier } from "./rule.ts";

export function rulesOfSettings({ settings, trust, servers }: Configuration): readonly PolicyRule[] {
  return [
    ...settings.files.flatMap((file) => (isUnknown(file, trust.trusted) ? unread(file) : [])),
    ...settings.gates.map(closing),
    ...(trust.trusted ? servers.filter(isTrusted).flatMap(trusting) : []),
  ];
}

/** Defaults of the system are weaker than the user's settings: nobody enforces them. */
const tiers: Readonly<Record<Scope, Tier>> = {
  system: "administrator",
  user: "user",
  "system-defaults": "user",
  workspace: "workspace",
};

function isUnknown({ scope, state }: SettingsFile, isTrusted: boolean): boolean {
  return state === "broken" && (scope !== "workspace" || isTrusted);
}

/** Nobody knows what it closes: like a policy file that cannot be read. */
function unread({ scope, file }: SettingsFile): PolicyRule {
  const tier = tiers[scope];
  return {
    tier,
    decision: tier === "administrator" ? "deny" : "ask_user",
    priority: 999,
    isDoubt: true,
    denyMessage: "until it is corrected nobody knows what it closes",
    origin: { source: "settings", file, name: "what cannot be read" },
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

/** A workspace entry's wish counts once the entry, with it, has been approved. */
function isTrusted({ server, admission }: AdmittedServer): boolean {
  return admission.status === "admitted" && server.definition?.trust === true;
}

/** Of what it offers to a model; that it may ask the model is another wish. */
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
