/** Writes a bug report as one Markdown file for a maintainer. */

import type { Redact } from "@fairlead/core/connect/redact";
import { type SafeText, toSafeJson, toSafeText } from "@fairlead/core/text/safe-text";
import type { BugReport } from "./collect.ts";

/** Returns the whole file. `hide` is applied to the finished text, so that it hides the secrets in every part. */
export function reportText(report: BugReport, hide: Redact): SafeText {
  const { created, versions, trusted, settings, problems, servers, attempt, logs } = report;
  const parts = [
    "# Fairlead bug report",
    "What I did, what I expected, and what happened instead:\n\n(write it here)",
    section("Versions", [
      ...Object.entries(versions).map(([name, version]) => `${name} ${version}`),
      `created ${created}`,
    ]),
    section("Workspace", [trusted ? "trusted" : "not trusted"]),
    section(
      "Settings: names of keys only, no values",
      settings.map(
        ({ scope, file, state, keys }) =>
          `${scope} ${file} (${state})${keys === undefined ? "" : `\n${toSafeJson(keys)}`}`,
      ),
    ),
    section("Problems in the settings", problems),
    section(
      "Servers",
      servers.map((server) => toSafeJson(server)),
    ),
    ...(attempt === undefined
      ? []
      : [
          section(`Connection to ${attempt.server}: steps`, attempt.steps),
          section(`Connection to ${attempt.server}: last messages, without their content`, attempt.messages),
        ]),
    ...logs.map(({ server, lines }) => section(`Log of ${server}: last lines`, lines)),
  ];
  return toSafeText(`${hide(parts.join("\n\n"))}\n`);
}

/** Puts lines into a code fence that is longer than any run of backticks in the lines, so that no line can close it. */
function section(title: string, lines: readonly string[]): string {
  const text = lines.length === 0 ? "(none)" : lines.join("\n");
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `## ${title.replaceAll(/\s/g, " ")}\n\n${fence}text\n${text}\n${fence}`;
}
