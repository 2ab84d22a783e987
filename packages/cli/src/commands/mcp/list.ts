/** `fairlead mcp list`: connects to every server that may start and shows the status of all. */

import { problemLines } from "@fairlead/console/server/words/server-details";
import { type ErrorCode, exitCodeOf, HostError } from "@fairlead/core/errors";
import type { MCPDiscoveryState } from "@fairlead/core/events";
import { initialServerState, notConnectedError } from "@fairlead/core/server";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import { count, type Output } from "../../output/output.ts";
import { type ListedServer, serverDocument, serverText, widestOf } from "../../output/servers/server-state.ts";
import { columnsOf } from "../../output/wrap.ts";
import { concernsFile, configurationOf } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { findServer } from "./find-server.ts";

interface Options {
  readonly strict?: boolean;
  readonly cached?: boolean;
  readonly verbose?: boolean;
}

export const verb: Verb = {
  help: `
Connects to all servers that may start, in parallel, and shows for each server its tools, or its error and the next
step. With --verbose, or for the servers that you name, also its command or URL, the file and line of its entry, and the
whole error. On a terminal a server is shown as soon as it has answered; the last line names the servers that are still
connecting. Secrets are hidden. Servers that the background host runs are not started again (fairlead daemon status);
without it, all started servers are stopped when the command ends.

Examples:
  fairlead mcp list
  fairlead mcp list github          one server, with all details
  fairlead mcp list --verbose
  fairlead mcp list --json
  fairlead mcp list --cached        at once, from the catalog cache
  fairlead mcp list --strict        exit with 3: settings, 4: connection, 5: sign-in, 6: approval or trust
  fairlead mcp list --debug=github  then: fairlead mcp logs github`,

  define(command) {
    command
      .argument("[names...]", "show only these servers, with all details")
      .option("-v, --verbose", "show also the command or URL, the settings file, and the sign-in of each server")
      .option("--strict", "exit with the code of the worst server error instead of 0")
      .addOption(command.createOption("--cached", "do not connect: show the cached catalogs").conflicts("strict"));
  },

  async run(context) {
    const { io, out, globals, command, operands } = context;
    const whole = await configurationOf(context);
    const named = operands.map((name) => findServer(whole, name));
    const configuration = named.length === 0 ? whole : { ...whole, servers: named };
    if (!globals.json) printHead(configuration, out);
    const { strict = false, cached: isCached = false, verbose: isVerbose = false } = command.opts<Options>();
    const verbose = isVerbose || named.length > 0;
    const showsSharing = verbose && (await usesGateway(configuration));
    const look = {
      ...out,
      verbose,
      showsSharing,
      columns: columnsOf(io.stdout),
      widestName: widestOf(configuration.servers.map(({ server }) => server.name)),
    };
    const toText = (one: ListedServer): SafeText => serverText(one, look);
    const listed = await list(configuration, context, isCached, toText);
    if (globals.json)
      out.json({
        discoveryState: (isCached ? "not_started" : "completed") satisfies MCPDiscoveryState,
        servers: listed.map(serverDocument),
        problems: configuration.problems,
      });
    if (strict) failOnWorst(listed, configuration);
  },
};

/** Most users have no client of the gateway: to them, how clients share a server says nothing. */
async function usesGateway({ locations }: Configuration): Promise<boolean> {
  const { hasRunGateway } = await import("@fairlead/gateway/gateway-key");
  return hasRunGateway(locations.state);
}

/** Returns the servers in the order of the settings. Prints the servers unless the output is JSON. */
async function list(
  configuration: Configuration,
  context: Context,
  isCached: boolean,
  toText: (one: ListedServer) => SafeText,
): Promise<readonly ListedServer[]> {
  const listed = configuration.servers.map(({ server, admission }) => ({
    server,
    state: initialServerState(server.name, admission, 0),
  }));
  // The code that connects is loaded only if a server may start, so that the command starts faster.
  if (configuration.servers.some(({ admission }) => admission.status === "admitted")) {
    const { listServers, listCachedServers } = await import("../../targets/list-servers.ts");
    return (isCached ? listCachedServers : listServers)(listed, configuration, context, toText);
  }
  const { out, globals } = context;
  if (listed.length > 0 && !globals.json) out.print(joinSafe(listed.map(toText)));
  return listed;
}

function printHead(configuration: Configuration, out: Output): void {
  const { servers, problems, locations, trust } = configuration;
  const trusted = trust.trusted ? safe`trusted` : safe`not trusted`;
  out.say(out.style.dim(safe`workspace ${toSafeLine(locations.root)} (${trusted}: ${toSafeLine(trust.detail)})`));
  // Problems of a server are printed with the server. Problems of a whole file are already printed.
  for (const problem of problems)
    if (problem.serverName === undefined && !concernsFile(problem)) out.warn(problemLines(problem));
  if (servers.length === 0) printNone(configuration, out);
}

function printNone({ settings }: Configuration, out: Output): void {
  out.print(safe`No servers are configured.`);
  const ignored = settings.files.find(({ state }) => state === "ignored");
  if (ignored)
    out.say(safe`${toSafeLine(ignored.file)} ignored: the folder is not trusted\n  next: fairlead trust add`);
  out.say(safe`add a server: fairlead mcp add -s user NAME COMMAND_OR_URL (examples: fairlead mcp add --help)`);
  out.say(safe`copy servers from other programs: fairlead mcp import`);
  out.say(safe`try the demo: fairlead tools demo`);
}

/** Throws the most serious error. Servers that the user disabled, excluded or did not allow are not failures. */
function failOnWorst(listed: readonly ListedServer[], { problems }: Configuration): void {
  const codes: ErrorCode[] = problems.filter(({ severity }) => severity === "error").map(({ code }) => code);
  const unable = listed.filter(({ state }) => state.status !== "connected");
  for (const { state } of unable) {
    const { code } = notConnectedError(state);
    if (code !== "denied") codes.push(code);
  }
  const worst = codes.toSorted((a, b) => exitCodeOf(b) - exitCodeOf(a))[0];
  if (worst === undefined) return;
  throw new HostError(worst, `${unable.length} of ${count(listed.length, "server")} cannot be used`, {
    next: "fairlead mcp list",
  });
}
