/** `fairlead trust list`: shows trusted folders and the approved servers of each workspace. */

import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { type Approvals, readApprovals } from "@fairlead/core/trust/approvals";
import type { TrustDecision } from "@fairlead/core/trust/trust-decision";
import { readTrustedFolders, type TrustRule } from "@fairlead/core/trust/trusted-folders";
import { table } from "../../output/output.ts";
import { problemLines } from "../../output/servers/server-details.ts";
import { timeText } from "../../output/time-text.ts";
import { concernsFile, configurationOf, lastingConfiguration } from "../../shell/configuration.ts";
import type { Verb } from "../../shell/verb.ts";

export const verb: Verb = {
  help: `
The rule with the longest matching path decides. In the terminal of an IDE that has Gemini CLI's companion extension,
the IDE decides, and the rules decide if it says nothing. Fairlead reads a trusted folder's settings; each server needs
its own approval.

Examples:
  fairlead trust list
  fairlead trust list --json`,

  define: (command) => command.option("--utc", "show times in UTC; --json always prints UTC"),

  async run(context) {
    const { out, globals, command } = context;
    const { utc: isUtc = false } = command.opts<{ readonly utc?: boolean }>();
    const { locations, trust } = await configurationOf(context);
    const { ide: _, ...withoutIde } = context;
    const otherwise = trust.source === "ide" ? (await lastingConfiguration(withoutIde)).trust : undefined;
    const { rules, problems } = await readTrustedFolders(locations.trustedFolders);
    const approvals = await readApprovals(locations.state);
    if (globals.json) {
      const { trusted, source, detail } = trust;
      return out.json({
        root: locations.root,
        trusted,
        source,
        detail,
        withoutIde: otherwise && { trusted: otherwise.trusted, source: otherwise.source, detail: otherwise.detail },
        folders: rules.map(({ path, level }) => ({ path, level })),
        approvals: [...approvals].map(([root, servers]) => ({ root, servers: named(servers) })),
        problems,
      });
    }
    for (const problem of problems) if (!concernsFile(problem)) out.warn(problemLines(problem));
    out.show(safe`here: ${toSafeLine(locations.root)} is ${decisionText(trust)}`);
    if (otherwise) out.show(safe`without the IDE: ${decisionText(otherwise)}`);
    out.show(
      safe`\nfolders (${toSafeLine(locations.trustedFolders)}):\n${rules.length === 0 ? safe`  none` : folderLines(rules)}`,
    );
    out.show(safe`\napproved servers:\n${approvals.size === 0 ? safe`  none` : approvalLines(approvals, isUtc)}`);
  },
};

function decisionText({ trusted, detail }: TrustDecision): SafeText {
  return safe`${trusted ? safe`trusted` : safe`not trusted`} (${toSafeLine(detail)})`;
}

function named(servers: ReadonlyMap<string, object>): object[] {
  return [...servers].map(([name, approval]) => ({ name, ...approval }));
}

function folderLines(rules: readonly TrustRule[]): SafeText {
  return table(
    rules.map(({ path, level, effective }) => [
      safe`  ${words[level]}`,
      toSafeLine(path),
      effective === undefined ? safe`(no effect: the folder does not exist, or is a link)` : safe``,
    ]),
  );
}

const words: Readonly<Record<TrustRule["level"], SafeText>> = {
  TRUST_FOLDER: safe`trusted`,
  TRUST_PARENT: safe`parent trusted`,
  DO_NOT_TRUST: safe`not trusted`,
};

function approvalLines(approvals: Approvals, isUtc: boolean): SafeText {
  return joinSafe(
    [...approvals].map(([root, servers]) => {
      const rows = [...servers].map(([name, { approvedAt, fingerprint }]) => [
        safe`    ${toSafeLine(name)}`,
        safe`approved ${toSafeLine(timeText(approvedAt, isUtc))}`,
        toSafeLine(fingerprint.slice(0, 12)),
      ]);
      return safe`  ${toSafeLine(root)}\n${table(rows)}`;
    }),
  );
}
