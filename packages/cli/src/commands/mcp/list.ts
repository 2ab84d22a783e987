/** `fairlead mcp list`: what is configured, from which file, and whether it may start. */

import { type ErrorCode, exitCodeOf, HostError } from "@fairlead/core/errors";
import type { ConfiguredServer } from "@fairlead/core/settings/definition";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import { concernsFile, configurationOf } from "../../configuration.ts";
import { missingSecretLines, missingSecrets } from "../../output/missing-secrets.ts";
import { count, type Output } from "../../output/output.ts";
import { problemLines } from "../../output/problem-lines.ts";
import { place } from "../../output/server-details.ts";
import { redact } from "../../output/server-redaction.ts";
import { errorCode, statusDocument, statusWords, transportWord } from "../../output/server-status.ts";
import type { Verb } from "../../verb.ts";

export const verb: Verb = {
  define(command) {
    command.option("--strict", "exit with the worst code among the servers, not 0").addHelpText(
      "after",
      `
Shows every configured server, the file and line it comes from, what it runs or reaches, and whether it may start.
Starts nothing. Secrets in arguments and addresses are hidden.

Examples:
  fairlead mcp list
  fairlead mcp list --json
  fairlead mcp list --strict        in a script: 3 settings problem, 6 waits for approval or trust`,
    );
  },

  async run(context) {
    const { out, globals, command } = context;
    const configuration = await configurationOf(context);
    if (globals.json) out.json(document(configuration));
    else print(configuration, await missingSecrets(configuration, context), out);
    if (command.opts<{ strict?: boolean }>().strict) failOnWorst(configuration);
  },
};

function document({ servers, problems }: Configuration): object {
  return {
    discoveryState: "not_started",
    servers: servers.map(({ server, admission }) => ({
      name: server.name,
      ...statusDocument(admission),
      transport: transportWord(server.kind),
      scope: server.scope,
      tools: 0,
      prompts: 0,
      resources: 0,
    })),
    problems,
  };
}

function print(configuration: Configuration, missing: ReadonlySet<string>, out: Output): void {
  const { servers, problems, locations, trust } = configuration;
  const trusted = trust.trusted ? safe`trusted` : safe`not trusted`;
  out.say(out.style.dim(safe`workspace ${toSafeLine(locations.root)} (${trusted}: ${toSafeLine(trust.detail)})`));
  // The problems of a server are told with the server, and those of a whole file have been told.
  for (const problem of problems)
    if (problem.serverName === undefined && !concernsFile(problem)) out.warn(problemLines(problem));
  if (servers.length > 0) out.print(joinSafe(servers.map((server) => entry(server, missing, out))));
  else printNone(configuration, out);
}

function printNone({ settings }: Configuration, out: Output): void {
  out.print(safe`No servers are configured.`);
  const ignored = settings.files.find(({ state }) => state === "ignored");
  if (ignored)
    out.say(safe`${toSafeLine(ignored.file)} is not read: the folder is not trusted. Look first: fairlead trust add`);
  out.say(safe`add one:   fairlead mcp add NAME COMMAND_OR_URL     (fairlead mcp add --help has examples)`);
  out.say(safe`take over: fairlead mcp import`);
  out.say(safe`try:       fairlead tools demo`);
}

function entry(
  { server, admission }: AdmittedServer,
  missing: ReadonlySet<string>,
  { style, typed }: Output,
): SafeText {
  const { name, scope, origin, shadows, problems } = server;
  const words = statusWords(admission);
  const status = admission.status === "admitted" ? style.green(words) : style.yellow(words);
  const lines = [
    safe`${style.bold(toSafeLine(name))}  ${status}`,
    safe`  ${toSafeLine(transportWord(server.kind))}: ${target(server)}`,
    safe`  from ${place(origin)} (${toSafeLine(scope)})`,
    ...shadows.map((shadowed) => safe`  instead of ${place(shadowed)} (${toSafeLine(shadowed.scope)})`),
  ];
  if (admission.status !== "admitted") {
    lines.push(safe`  why: ${toSafeLine(admission.message)}`);
    if (admission.next !== undefined) lines.push(typed(safe`  next: ${toSafeLine(admission.next)}`));
  }
  const isTold = (message: string): boolean =>
    admission.status === "disconnected" && admission.message.startsWith(message);
  for (const { severity, message } of problems)
    if (!isTold(message)) lines.push(safe`  ${toSafeLine(severity)}: ${toSafeLine(message)}`);
  for (const line of missingSecretLines(server.definition?.secrets ?? [], missing))
    lines.push(typed(safe`  warning: ${line}`));
  return joinSafe(lines);
}

function target({ definition }: ConfiguredServer): SafeText {
  if (!definition) return safe`?`;
  const shown = redact(definition.transport);
  return toVisibleLine(shown.kind === "stdio" ? [shown.command, ...shown.args].join(" ") : shown.url);
}

/** What a person decided (disabled, excluded, not allowed) is no failure; what waits or is wrong is. */
function failOnWorst({ servers, problems }: Configuration): void {
  const codes: ErrorCode[] = problems.filter(({ severity }) => severity === "error").map(({ code }) => code);
  for (const { admission } of servers) {
    const code = admission.status === "admitted" ? "denied" : errorCode(admission);
    if (code !== "denied") codes.push(code);
  }
  const worst = codes.toSorted((a, b) => exitCodeOf(b) - exitCodeOf(a))[0];
  if (worst === undefined) return;
  const unable = servers.filter(({ admission }) => admission.status !== "admitted").length;
  throw new HostError(worst, `${unable} of ${count(servers.length, "server")} cannot start`, {
    next: "fairlead mcp list",
  });
}
