/** Writes the part of `docs/conformance.md` about the gateway. Pure functions. */

export function gatewaySection({ direct, legs, bridgedCalls, exceptions }, table) {
  const row = ([name, { passed, of, checks }]) => [name, `${passed} of ${of}`, checks];
  return [
    "## As a server: the gateway",
    "",
    "```text",
    "npm run conformance -- --gateway",
    "```",
    "",
    "The command runs the suite's scenarios for servers against a test server of this repository, directly and then through `fairlead serve --http`, at the address",
    "`/mcp/<server>`. A rule file allows the server's tools, reads, prompts, skills and sampling. The set `skills` has the scenarios of the skills extension. The run fails if a scenario fails that is not named below, or if a check that",
    "passed directly does not pass through the gateway: a scenario without any check passes in the suite.",
    "",
    ...table(
      ["way to the server, and set", "scenarios passed", "checks passed"],
      [...Object.entries(direct).map(([name, one]) => row([`direct ${name}`, one])), ...Object.entries(legs).map(row)],
    ),
    "",
    "`gateway` is a server on stdio that speaks both protocol eras. A legacy client and a modern server, or the reverse, have no era in common, and the gateway",
    "translates. The address of all servers is `/mcp`, of a gateway with one server.",
    "",
    ...Object.entries(exceptions).flatMap(([key, scenarios]) => [
      `Expected, ${key}:`,
      "",
      ...byReason(scenarios).map(([why, names]) => `- ${names.map(toldOf).join(", ")}. ${why}`),
      "",
    ]),
    "### Scenarios that the suite does not score",
    "",
    "The suite runs these scenarios too, and the run fails if one of them fails that is not named above.",
    "",
    ...unscoredTable({ direct, legs }, table),
    "",
    "In `tasks-status-notifications` the suite skips its only check until its authors rewrite it. `server-sse-polling` has only recommendations, for streams that a client can resume;",
    "neither the test server nor the gateway offers that.",
    "",
    `Calls in which the server asks (elicitation, sampling, roots, two rounds) between a client and a server of different eras: ${bridgedCalls.passed} of ${bridgedCalls.of}.`,
  ];
}

/** Returns each reason with the scenarios and checks that it excuses. */
function byReason(excuses) {
  const names = new Map();
  for (const [name, why] of Object.entries(excuses)) names.set(why, [...(names.get(why) ?? []), name]);
  return [...names];
}

function toldOf(name) {
  return `\`${name}\` ${name.includes(":") ? "(a warning)" : "fails"}`;
}

/** A row for each scenario, and a column for each way to the server over which its set runs. */
function unscoredTable({ direct, legs }, table) {
  const sets = Object.keys(direct);
  const labels = [...new Set(Object.keys(legs).map((key) => key.slice(0, key.lastIndexOf(" "))))];
  const rows = sets.flatMap((set) =>
    Object.entries(direct[set].unscored).map(([name, words]) => [
      `\`${name}\`, ${set}`,
      words,
      ...labels.map((label) => legs[`${label} ${set}`]?.unscored[name] ?? "–"),
    ]),
  );
  return table(["scenario, and set", "direct", ...labels], rows);
}
