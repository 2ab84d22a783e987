/** Whether the workspace is trusted, who said so, and whether that also approves its servers. */

import { isInside } from "../files/inside.ts";
import type { Problem } from "../settings/define/definition.ts";
import { TrustLevel, type TrustRule } from "./trusted-folders.ts";

export interface TrustDecision {
  readonly trusted: boolean;
  readonly source: "flag" | "environment" | "embedder" | "file" | "disabled" | "default";
  /** The workspace's servers count as approved as they stand, for this run. */
  readonly approvesEntries: boolean;
  /** Which flag, variable or rule decided. */
  readonly detail: string;
}

/** @deprecated Renamed to `TrustDecision`. */
export type TrustVerdict = TrustDecision;

export interface TrustFacts {
  /** `--trust-workspace`. */
  readonly flag: boolean;
  /** The real process environment, never a `.env` file's. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folderTrustEnabled: boolean;
  readonly embedderTrust: boolean | undefined;
  readonly rules: readonly TrustRule[];
  /** The workspace root, a real path: a link to a folder is judged as that folder. */
  readonly root: string;
}

export interface TrustEvaluation {
  readonly decision: TrustDecision;
  readonly problems: readonly Problem[];
}

// Strongest first. Gemini CLI's own variable speaks of the folder only: it knows no approval of servers.
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

/** The first in the order that says anything decides: flag, environment, switch, embedding program, file. */
export function decideTrust(facts: TrustFacts): TrustEvaluation {
  const verdict =
    byFlag(facts) ??
    byEnvironment(facts) ??
    bySwitch(facts) ??
    byEmbedder(facts) ??
    byRule(facts) ??
    untrustedByDefault;
  return { decision: verdict, problems: misspeltVariables(facts) };
}

const untrustedByDefault: TrustDecision = {
  trusted: false,
  source: "default",
  approvesEntries: false,
  detail: "no rule covers it",
};

function byFlag({ flag }: TrustFacts): TrustDecision | undefined {
  if (!flag) return undefined;
  return { trusted: true, source: "flag", approvesEntries: true, detail: "--trust-workspace" };
}

function byEnvironment({ env }: TrustFacts): TrustDecision | undefined {
  for (const { name, approvesEntries } of variables) {
    const value = env[name];
    const trusted = meanings.get(value ?? "");
    if (trusted !== undefined)
      return {
        trusted,
        source: "environment",
        approvesEntries: trusted && approvesEntries,
        detail: `${name}=${value}`,
      };
  }
  return undefined;
}

function bySwitch({ folderTrustEnabled }: TrustFacts): TrustDecision | undefined {
  if (folderTrustEnabled) return undefined;
  return { trusted: true, source: "disabled", approvesEntries: false, detail: "security.folderTrust.enabled is false" };
}

function byEmbedder({ embedderTrust }: TrustFacts): TrustDecision | undefined {
  if (embedderTrust === undefined) return undefined;
  return {
    trusted: embedderTrust,
    source: "embedder",
    approvesEntries: false,
    detail: "the embedding program's verdict",
  };
}

function byRule({ rules, root }: TrustFacts): TrustDecision | undefined {
  const rule = strongestRule(rules, root);
  if (rule === undefined) return undefined;
  return {
    trusted: rule.level !== TrustLevel.DO_NOT_TRUST,
    source: "file",
    approvesEntries: false,
    detail: `${rule.level} for ${rule.path} (${rule.origin.file}:${rule.origin.line})`,
  };
}

/** All that match are parents of the root or the root itself, so the longest is the nearest. */
function strongestRule(rules: readonly TrustRule[], root: string): TrustRule | undefined {
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
