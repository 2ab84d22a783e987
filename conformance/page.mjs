/** Writes `docs/conformance.md` from the expected outcomes of the suites. */

import { readFile, writeFile } from "node:fs/promises";
import { gatewaySection } from "./gateway/page.mjs";
import { parseSummary, totalsOf } from "./report.mjs";

export async function writePage() {
  const read = async (name) => JSON.parse(await readFile(new URL(name, import.meta.url), "utf8"));
  const [client, gateway] = await Promise.all([read("expected.json"), read("gateway/expected.json")]);
  await writeFile(new URL("../docs/conformance.md", import.meta.url), conformancePage(client, gateway));
}

/** Pure. */
export function conformancePage(expected, gateway) {
  const suites = Object.entries(expected).map(([version, { scenarios, exceptions = {} }]) => ({
    version,
    exceptions,
    outcomes: Object.fromEntries(Object.entries(scenarios).map(([name, text]) => [name, parseSummary(text)])),
  }));
  const names = [...new Set(suites.flatMap(({ outcomes }) => Object.keys(outcomes)))];
  return [
    "<!-- Written by `npm run conformance -- --update`. Do not edit. -->",
    "",
    "# Conformance",
    "",
    "Fairlead is a client of MCP servers, and its gateway is a server for other clients. The official MCP conformance suite",
    "(`@modelcontextprotocol/conformance`) tests both.",
    "",
    "## As a client",
    "",
    "```text",
    "npm run conformance",
    "```",
    "",
    "The command runs the suite in two versions, one scenario at a time, and fails if any number differs from the ones on this page. The client under test is a host: `createHost({ settings })`. What the suite gives a client (address, client ID, secret, key,",
    "token) becomes settings and environment variables, and Fairlead signs in itself. The only part from outside is a browser that follows one redirect.",
    "",
    ...table(
      ["suite", "scenarios passed", "checks passed", "failed", "warnings", "skipped"],
      suites.map(({ version, outcomes }) => totalRow(version, outcomes)),
    ),
    "",
    ...suites.flatMap(({ version, exceptions }) =>
      Object.entries(exceptions).map(([name, why]) => `Expected to fail in ${version}: \`${name}\`. ${why}`),
    ),
    "",
    "### Scenarios",
    "",
    "✓ or ✗, then the number of checks that passed.",
    "",
    ...table(
      ["scenario", ...suites.map(({ version }) => version)],
      names.map((name) => [`\`${name}\``, ...suites.map(({ outcomes }) => cell(outcomes[name]))]),
    ),
    "",
    ...gatewaySection(gateway, table),
    "",
  ].join("\n");
}

function totalRow(version, outcomes) {
  const { ok, all, passed, failed, warned, skipped } = totalsOf(outcomes);
  return [version, `${ok} of ${all}`, passed, failed, warned, skipped];
}

function cell(outcome) {
  if (outcome === undefined) return "–";
  const { ok, passed, failed, warned, skipped } = outcome;
  const rest = Object.entries({ failed, warned, skipped }).flatMap(([word, count]) =>
    count > 0 ? `${count} ${word}` : [],
  );
  return [`${ok ? "✓" : "✗"} ${passed}`, ...rest].join(", ");
}

function table(heads, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)];
}
