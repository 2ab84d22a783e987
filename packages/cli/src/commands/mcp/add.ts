/** `fairlead mcp add`: writes a server into the settings, prints the entry and an undo command, and tests the connection. */

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import type { ServerState } from "@fairlead/core/events";
import { toShellWord } from "@fairlead/core/plain-text";
import { notConnectedError } from "@fairlead/core/server";
import { type Locations, writeServer } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type AdmittedServer, type Configuration, setFolderTrust, TrustLevel } from "@fairlead/core/trust";
import { Option } from "commander";
import { errorLines, type Output } from "../../output/output.ts";
import { type ListedServer, stateWords } from "../../output/servers/server-state.ts";
import { downloadOf } from "../../pin/pin-server.ts";
import { configurationIfTrusted, configurationOf } from "../../shell/configuration.ts";
import { canAsk, confirm } from "../../shell/prompt.ts";
import { type Context, globalWords, type Io, type Verb } from "../../shell/verb.ts";
import { connectServers } from "../../targets/connect-servers.ts";
import { useHost } from "../../targets/with-host.ts";
import { type Added, document, printAdded, printApproval } from "./add/add-report.ts";
import {
  approveWritten,
  type Destination,
  destinationOf,
  isApproved,
  noApproval,
  placesOf,
  removeLine,
  restore,
  type ScopeWord,
  scopeOption,
  trustAddLine,
} from "./add/destination.ts";
import {
  type AddOptions,
  lookalikes,
  type NewServer,
  newServers,
  refuseInvalidEntry,
  splitAddWords,
} from "./add/new-entry.ts";

interface Options extends AddOptions {
  readonly scope?: ScopeWord;
  readonly replace?: boolean;
  readonly test: boolean;
  readonly approve: boolean;
}

export const verb: Verb = {
  help: `
COMMAND_OR_URL is one of
  a command and its words      npx -y some-package      (or quoted as one word: "npx -y some-package")
  a URL                        https://example.com/mcp
  a JSON snippet               '{"command": "npx", "args": ["-y", "some-package"]}'
                               also '{"mcpServers": {…}}' as found in READMEs; NAME may then be left out

All words after a command belong to the server; options for fairlead come before NAME. A "--" in between is accepted.
Values are stored as you type them. When the server starts, Fairlead replaces $NAME and \${NAME} by the variable,
\${secret:NAME} by the stored secret, and $$ by a dollar sign. Quote them, or your shell expands them first.
You approve a project's server by adding it; other users of the project approve it with fairlead trust add. If the
folder is not trusted yet, Fairlead asks on a terminal whether to trust it: a project's server starts only then.
Then Fairlead connects to the server and shows its tools or the error. The entry stays in both cases, with exit code 0;
in a script, fairlead mcp test NAME returns the error's exit code. On a terminal, Fairlead then offers to sign in, if the
server needs it, and to write the exact version of a downloaded package into the entry.

Examples:
  fairlead mcp add -s user files npx -y @modelcontextprotocol/server-filesystem ~/notes
  fairlead mcp add -e GITHUB_TOKEN github docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server
  fairlead mcp add -s user -t http -H 'Authorization: Bearer \${secret:API_TOKEN}' search https://example.com/mcp
  fairlead mcp add --include-tools read_file,list_directory files npx -y @modelcontextprotocol/server-filesystem .
  fairlead mcp add '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'`,

  split: splitAddWords,

  define(command) {
    const repeat = (word: string, before: readonly string[] = []): readonly string[] => [...before, word];
    command.usage("[options] NAME COMMAND_OR_URL [ARGS...]").argument("<name>").argument("[target]");
    scopeOption(command, "user: for all your folders; project: for this folder (default)");
    command
      .addOption(
        new Option("-t, --transport <kind>", "stdio for a command; http or sse for a URL").choices([
          "stdio",
          "sse",
          "http",
        ]),
      )
      .option(
        "-e, --env <NAME=VALUE>",
        "environment variable for the command; NAME alone passes on your own value (repeatable)",
        repeat,
      )
      .option("-H, --header <Name: value>", "a header for the URL (repeatable)", repeat)
      .option("--cwd <dir>", "working folder of the command")
      .option("--timeout <time>", "give up a request after this time without a response or progress: 500ms, 10s, 2m")
      .option("--trust", "run the server's tools without confirmation")
      .option("--description <text>", "a description of the server")
      .option("--include-tools <a,b>", "use only these tools of the server")
      .option("--exclude-tools <a,b>", "use all tools of the server except these")
      .option("--replace", "replace an entry with the same name without asking")
      .option("--no-test", "do not connect to the server now")
      .option("--no-approve", "do not approve a project's server now; use fairlead trust add later");
  },

  async run(context) {
    const { io, out, globals, command, operands, rest } = context;
    const { scope, replace = false, approve, test, ...options } = command.opts<Options>();
    const isFile = (path: string): boolean =>
      statSync(resolve(io.cwd, path), { throwIfNoEntry: false })?.isFile() ?? false;
    const servers = newServers({ operands, rest, isFile }, options);
    const ours = lookalikes(rest);
    if (ours.length > 0)
      out.say(
        safe`note: ${toSafeLine(ours.join(", "))} passed to the server; options for fairlead must come before NAME`,
      );

    const before = await configurationIfTrusted(context);
    const destination = choose(scope, before.locations, out);
    for (const server of servers) refuseInvalidEntry(server, destination.scope);
    const taken = replace
      ? new Set(servers.map(({ name }) => name))
      : await askToReplace(servers, destination, before, io);
    const added: Added[] = [];
    for (const { name, entry } of servers) {
      const { file, edit } = destination;
      const { replaced } = await writeServer(file, name, entry, { ...edit, replace: taken.has(name) });
      const undo =
        replaced === undefined
          ? { undo: removeLine(name, destination.word, globals) }
          : restore({ name, entry: replaced, approved: await isApproved(name, before) }, destination, context);
      added.push({ name, entry, replaced: replaced !== undefined, ...undo });
    }
    const names = servers.map(({ name }) => name);
    const after = await configurationIfTrusted(context);
    const now = await configurationOf(context);
    const isUser = destination.scope === "user";
    const { servers: readBack } = isUser ? now : after;
    const trustLine = trustAddLine(after.locations);
    if (!globals.json) for (const one of added) printAdded(one, destination, readBack, out);
    // With --no-approve the server cannot start in any case, so Fairlead does not ask about trusting the folder.
    const answer = isUser || !approve ? "not_asked" : await askToTrust(now, context);
    const trusted = answer === "yes" || now.trust.trusted;
    // By typing this command line, the user approves the server and the workspace files that the server runs.
    const approval = approve && answer !== "no" ? await approveWritten(names, destination, context) : noApproval;
    const report = { added, destination, servers: readBack, trustLine, approval, trusted };
    if (!globals.json) printApproval(report, out);
    const inFact = await configurationOf(context);
    const written = inFact.servers.filter(
      ({ server }) => names.includes(server.name) && server.origin.file === destination.file,
    );
    if (!globals.json) printDisabled(written, out);
    const tested = test ? await testAdded(written, inFact, context) : [];
    if (globals.json) return out.json(document(report, tested));
    for (const { state } of tested) printTested(state, out);
    await askNextSteps(tested, context);
  },
};

function choose(scope: ScopeWord | undefined, locations: Locations, out: Output): Destination {
  if (scope !== undefined || locations.files.workspace !== undefined)
    return destinationOf(scope ?? "project", locations);
  out.say(safe`note: there is no project here, so Fairlead writes to your user settings`);
  return destinationOf("user", locations);
}

/** Returns the names of servers that are already in the settings file and that the user agreed to replace. */
async function askToReplace(
  servers: readonly NewServer[],
  { file }: Destination,
  configuration: Configuration,
  io: Io,
): Promise<ReadonlySet<string>> {
  const isTaken = ({ name }: NewServer): boolean =>
    placesOf(name, configuration).some((origin) => origin.file === file);
  const taken = servers.filter(isTaken).map(({ name }) => name);
  if (taken.length === 0) return new Set();
  const names = taken.map((name) => `"${name}"`).join(", ");
  if (!canAsk(io))
    throw new HostError("usage", `already in ${file}: ${names}; nothing was changed`, {
      next: "add --replace before the name, or choose another name",
    });
  if (await confirm(io, safe`Already in ${toVisibleLine(file)}: ${toVisibleLine(names)}. Replace?`))
    return new Set(taken);
  throw new HostError("denied", "nothing was changed");
}

/** Connects to each server that may start, and returns the resulting states. */
async function testAdded(
  servers: readonly AdmittedServer[],
  configuration: Configuration,
  context: Context,
): Promise<readonly ListedServer[]> {
  const admitted = servers.filter(({ admission }) => admission.status === "admitted").map(({ server }) => server);
  if (admitted.length === 0) return [];
  const names = admitted.map(({ name }) => name);
  return useHost(configuration, context, async (host) => {
    await connectServers(host, names, context);
    const states = new Map(host.states().map((state) => [state.name, state]));
    return admitted.flatMap((server) => {
      const state = states.get(server.name);
      return state === undefined ? [] : [{ server, state }];
    });
  });
}

function printDisabled(servers: readonly AdmittedServer[], out: Output): void {
  for (const { admission } of servers) {
    if (admission.status !== "disabled") continue;
    out.warn(safe`${toSafeLine(admission.message)}`);
    out.say(safe`  next: ${toSafeLine(admission.next)}`);
  }
}

function printTested(state: ServerState, out: Output): void {
  const name = toSafeLine(state.name);
  if (state.status === "connected") {
    out.show(safe`"${name}" is ${stateWords(state)}`);
    out.say(safe`next: fairlead tools ${toSafeLine(toShellWord(state.name))}`);
    return;
  }
  const { message, next } = notConnectedError(state);
  const hint = next === undefined ? safe`` : safe`\n  next: ${toSafeLine(next)}`;
  if (state.status === "needs_auth") {
    out.warn(safe`"${name}" was added and needs a sign-in${hint}`);
    return;
  }
  out.warn(safe`warning: "${name}" was added, but Fairlead cannot connect to it: ${toSafeLine(message)}${hint}`);
  out.say(safe`to test again: fairlead mcp test ${toSafeLine(toShellWord(state.name))}`);
}

// Offers, on a terminal, the steps that an added server still needs: the sign-in, and an exact version.

/** Asks about each step, and runs its command after a yes. If a step fails, the server stays added. */
async function askNextSteps(tested: readonly ListedServer[], context: Context): Promise<void> {
  const { io, globals } = context;
  if (globals.json || !canAsk(io)) return;
  for (const { server, state } of tested) {
    const { name, definition } = server;
    const shown = toVisibleLine(name);
    if (state.status === "needs_auth")
      await askAndRun(safe`Sign in to "${shown}" now?`, ["mcp", "auth", name], context);
    if (state.status === "connected" && definition !== undefined && downloadOf(definition)?.pinned === false)
      await askAndRun(
        safe`Write the exact version of "${shown}" into the settings now?`,
        ["mcp", "pin", name],
        context,
      );
  }
}

async function askAndRun(
  question: SafeText,
  words: readonly string[],
  { io, out, globals, runWords }: Context,
): Promise<void> {
  try {
    if (await confirm(io, question)) await runWords([...globalWords(globals), ...words], io, out);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    if (error.code === "cancelled") throw new HostError("cancelled", "cancelled: the server stays added");
    out.warn(errorLines(error));
  }
}

// Asks on a terminal whether to trust the folder that `mcp add` has just written to.

/**
 * Asks the user whether to trust the folder, and trusts it after a yes. Does not ask with `--json` or without a
 * terminal. Does not ask if a trust rule, an option or a variable already trusts or distrusts the folder.
 */
async function askToTrust(
  { trust, locations }: Configuration,
  { io, out, globals }: Context,
): Promise<"yes" | "no" | "not_asked"> {
  if (trust.trusted || trust.source !== "default" || globals.json || !canAsk(io)) return "not_asked";
  const { root, trustedFolders } = locations;
  out.warn(
    safe`A project's server starts only in a trusted folder. In a trusted folder, Fairlead reads .gemini/settings.json, .env files and policy files.`,
  );
  const isTrusted = await confirm(io, safe`Trust ${toVisibleLine(root)}?`).catch((error: unknown) => {
    throw error instanceof HostError && error.code === "cancelled"
      ? new HostError("cancelled", "cancelled: the server was added, the folder is not trusted", {
          next: trustAddLine(locations),
        })
      : error;
  });
  if (!isTrusted) return "no";
  await setFolderTrust(trustedFolders, root, TrustLevel.TRUST_FOLDER);
  out.print(safe`trusted: ${toVisibleLine(root)}`);
  return "yes";
}
