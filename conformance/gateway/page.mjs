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
    "`/mcp/<server>`. A rule file allows the server's tools, reads, prompts and sampling. The run fails if a scenario fails that is not named below, or if a check that",
    "passed directly does not pass through the gateway: a scenario without any check passes in the suite.",
    "",
    ...table(
      ["way to the server, and set", "scenarios passed", "checks passed"],
      [...Object.entries(direct).map(([name, one]) => row([`direct ${name}`, one])), ...Object.entries(legs).map(row)],
    ),
    "",
    "`gateway` is a server on stdio that speaks both protocol eras. A legacy client and a modern server, or the reverse, have no era in common, and the gateway",
    "translates. The address of all servers is `/mcp`, of a gateway with one server.",
    "The scenarios `http-header-validation`, `http-custom-header-server-validation` and `server-session-lifecycle`, which the suite does not score, pass too.",
    "",
    ...Object.entries(exceptions).flatMap(([key, scenarios]) => [
      `Expected for a ${key}:`,
      "",
      ...Object.entries(scenarios).map(
        ([name, why]) => `- \`${name}\`${name.includes(":") ? " (a warning)" : " fails"}. ${why}`,
      ),
    ]),
    "",
    `Calls in which the server asks (elicitation, sampling, roots, two rounds) between a client and a server of different eras: ${bridgedCalls.passed} of ${bridgedCalls.of}.`,
  ];
}
