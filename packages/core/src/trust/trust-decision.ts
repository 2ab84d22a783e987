/** Decides whether a workspace is trusted, from flags, environment variables, settings and trust rules. */

import { isInside } from "../files/real-path.ts";
import type { Problem } from "../settings/define/definition.ts";
import { TrustLevel, type TrustRule } from "./trusted-folders.ts";

/** Whether the workspace is trusted, and why. */
export interface TrustDecision {
  readonly trusted: boolean;
  readonly source: "flag" | "environment" | "embedder" | "file" | "disabled" | "ide" | "no_workspace" | "default";
  /** True if this decision also approves the servers of the workspace for this run. */
  readonly approvesEntries: boolean;
  /** The flag, variable or rule that decided. */
  readonly detail: string;
}

/** What the IDE's companion reports about the folders of its window. */
export interface IdeReport {
  readonly isTrusted: boolean;
  /** The companion's port on 127.0.0.1. */
  readonly port: number;
}

/** Everything that decides whether the workspace is trusted. */
export interface TrustFacts {
  /** `--trust-workspace`. */
  readonly flag: boolean;
  /** The environment of the process, without `.env` files. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folderTrustEnabled: boolean;
  readonly embedderTrust: boolean | undefined;
  /** What the IDE reports. Undefined if it reports nothing, or if an earlier source decides. */
  readonly ide: IdeReport | undefined;
  /** Whether the host uses a workspace. False with `--no-workspace`. */
  readonly hasWorkspace: boolean;
  readonly rules: readonly TrustRule[];
  /** The real path of the workspace root. */
  readonly root: string;
}

/*
 * The first variable with a valid value decides. Gemini CLI's variable can trust the folder, but approves no servers,
 * because Gemini CLI has no approvals.
 */
const variables = [
  { name: "FAIRLEAD_TRUST_WORKSPACE", approvesEntries: true },
  { name: "GEMINI_CLI_TRUST_WORKSPACE", approvesEntries: false },
] as const;

const meanings: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/**
 * Decides whether the workspace is trusted. Asks these sources in order, and the first answer counts: a flag, an
 * environment variable, the setting `security.folderTrust.enabled`, the embedding program, the IDE, a rule in
 * `trustedFolders.json`.
 */
export function decideTrust(facts: TrustFacts): {
  readonly decision: TrustDecision;
  readonly problems: readonly Problem[];
} {
  const decision = beforeIde(facts) ?? byIde(facts) ?? byRule(facts) ?? untrustedByDefault;
  return { decision: withoutWorkspace(decision, facts), problems: misspeltVariables(facts) };
}

/** Whether the IDE must be asked: no stronger source decides, and there is a workspace to decide about. */
export function isIdeAsked(facts: Omit<TrustFacts, "ide" | "rules">): boolean {
  return facts.hasWorkspace && beforeIde(facts) === undefined;
}

function beforeIde(facts: Omit<TrustFacts, "ide" | "rules">): TrustDecision | undefined {
  return byFlag(facts) ?? byEnvironment(facts) ?? bySwitch(facts) ?? byEmbedder(facts);
}

/**
 * The decision for a host without a workspace: what the file says about the current folder does not matter. The folder
 * stays untrusted, so that no server starts in it.
 */
function withoutWorkspace(decision: TrustDecision, { hasWorkspace }: TrustFacts): TrustDecision {
  const isAboutFolder = decision.source === "file" || decision.source === "default";
  if (hasWorkspace || decision.trusted || !isAboutFolder) return decision;
  return decided(false, "no_workspace", "no workspace is used");
}

const untrustedByDefault: TrustDecision = decided(false, "default", "no rule covers it");

function decided(
  trusted: boolean,
  source: TrustDecision["source"],
  detail: string,
  approvesEntries = false,
): TrustDecision {
  return { trusted, source, approvesEntries, detail };
}

function byFlag({ flag }: Pick<TrustFacts, "flag">): TrustDecision | undefined {
  return flag ? decided(true, "flag", "--trust-workspace", true) : undefined;
}

function byEnvironment({ env }: Pick<TrustFacts, "env">): TrustDecision | undefined {
  for (const { name, approvesEntries } of variables) {
    const value = env[name];
    const trusted = meanings.get(value ?? "");
    if (trusted !== undefined) return decided(trusted, "environment", `${name}=${value}`, trusted && approvesEntries);
  }
  return undefined;
}

function bySwitch({ folderTrustEnabled }: Pick<TrustFacts, "folderTrustEnabled">): TrustDecision | undefined {
  return folderTrustEnabled ? undefined : decided(true, "disabled", "security.folderTrust.enabled is false");
}

function byEmbedder({ embedderTrust }: Pick<TrustFacts, "embedderTrust">): TrustDecision | undefined {
  if (embedderTrust === undefined) return undefined;
  return decided(embedderTrust, "embedder", "decided by the embedding program");
}

function byIde({ ide }: TrustFacts): TrustDecision | undefined {
  return ide && decided(ide.isTrusted, "ide", `reported by the IDE, companion on port ${ide.port}`);
}

function byRule({ rules, root }: TrustFacts): TrustDecision | undefined {
  const rule = strongestRule(rules, root);
  if (rule === undefined) return undefined;
  const detail = `${rule.level} for ${rule.path} (${rule.origin.file}:${rule.origin.line})`;
  return decided(rule.level !== TrustLevel.DO_NOT_TRUST, "file", detail);
}

/**
 * Returns the rule for the workspace root. If there is none, returns the rule for the nearest folder above the root.
 */
export function strongestRule(rules: readonly TrustRule[], root: string): TrustRule | undefined {
  return rules
    .filter(({ effective }) => effective !== undefined && isInside(root, effective))
    .reduce<TrustRule | undefined>(
      (best, rule) => (best === undefined || isStronger(rule, best) ? rule : best),
      undefined,
    );
}

function isStronger(rule: TrustRule, than: TrustRule): boolean {
  const difference = (rule.effective?.length ?? 0) - (than.effective?.length ?? 0);
  return difference > 0 || (difference === 0 && rule.level === TrustLevel.DO_NOT_TRUST);
}

function misspeltVariables({ env }: TrustFacts): Problem[] {
  return variables.flatMap(({ name }) => {
    const value = env[name] ?? "";
    if (value === "" || meanings.has(value)) return [];
    return {
      severity: "warning",
      code: "settings_invalid",
      message: `the environment variable ${name} is ${JSON.stringify(value)}, which is neither true nor false; it is ignored`,
      next: `Set ${name}=true or ${name}=false, or unset it.`,
    };
  });
}
