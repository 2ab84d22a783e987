/**
 * `fairlead` without a command: opens the app on a terminal. Without a terminal, prints an overview and starts no
 * configured server.
 */

import { relative } from "node:path";
import { problemLines, transportWord } from "@fairlead/console/server/words/server-details";
import { HostError } from "@fairlead/core/errors";
import { demoName, type HostTool } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/plain-text";
import type { Locations, Problem, SettingsFile } from "@fairlead/core/settings";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import { type ResumeOptions, wantedConversation } from "../conversations/find-conversation.ts";
import { type Style, table } from "../output/output.ts";
import { statusDocument, statusWords } from "../output/servers/server-state.ts";
import { shortPath } from "../output/time-text.ts";
import { exampleCall } from "../output/tools/signature.ts";
import { appOptions } from "../shell/app-options.ts";
import { commandWord, withCommandWord } from "../shell/command-word.ts";
import { concernsFile, configurationOf } from "../shell/configuration.ts";
import { exampleServer } from "../shell/example-server.ts";
import { type Context, type Globals, globalWords, type Verb } from "../shell/verb.ts";
import { hasDemo, withHost } from "../targets/with-host.ts";

export const verb: Verb = {
  isLasting: ({ stdin, stdout }) => stdin.isTTY === true && stdout.isTTY === true,
  // This command has no `help` text, because `fairlead --help` prints the list of all commands.
  define(command) {
    command.argument("[prompt...]", "the first message, in quotes");
    for (const [flags, help] of appOptions) command.option(flags, help);
  },

  async run(context) {
    const { io, globals, command, operands } = context;
    if (operands.length > 1)
      throw new HostError("usage", `one message is expected, not ${operands.length}`, {
        next: `put the message in quotes: fairlead ${toShellWord(operands.join(" "))}`,
      });
    const { plain = false, ...resuming } = command.opts<{ readonly plain?: boolean } & ResumeOptions>();
    const isApp = io.stdin.isTTY === true && io.stdout.isTTY === true && !globals.json;
    if (!isApp && operands.length > 0) return runPrompt(context);
    if (!isApp && resuming.resume === undefined) return showOverview(context);
    const configuration = await configurationOf(context);
    // Throws for an unknown conversation ID before the screen is drawn. With --resume and no ID, the app shows a
    // list.
    if (resuming.resume !== true) await wantedConversation(resuming, configuration);
    if (!isApp)
      throw new HostError(
        "usage",
        "cannot continue the conversation: stdout is not a terminal, and there is no message",
        { next: `fairlead --resume${typeof resuming.resume === "string" ? `=${resuming.resume}` : ""} -p "MESSAGE"` },
      );
    if (plain || io.env["TERM"] === "dumb") {
      const { runPlain } = await import("../tui/plain.ts");
      return runPlain(context, configuration);
    }
    const { runApp } = await import("../tui/run-app.tsx");
    return runApp(context, configuration);
  },
};

/** Without a terminal, `fairlead "…"` does the same as `fairlead -p "…"`. */
function runPrompt({ operands, command, globals, io, out, runWords }: Context): Promise<void> {
  const { model, continue: isContinued = false, resume } = command.opts<{ readonly model?: string } & ResumeOptions>();
  const words = [
    ...globalWords(globals),
    ...(globals.json ? ["--json"] : []),
    ...(globals.quiet ? ["--quiet"] : []),
    ...debugWords(globals),
    ...(model === undefined ? [] : ["--model", model]),
    ...(isContinued || resume === true ? ["--continue"] : []),
    ...(typeof resume === "string" ? [`--resume=${resume}`] : []),
    `--prompt=${operands.join(" ")}`,
  ];
  return runWords(words, io, out);
}

function debugWords({ debug }: Globals): readonly string[] {
  if (debug === false) return [];
  return debug === true ? ["--debug"] : [`--debug=${debug}`];
}

function showOverview(context: Context): Promise<void> {
  return withHost(context, async (host, configuration) => {
    const { io, out, globals } = context;
    if (hasDemo(configuration)) await host.start({ servers: [demoName] });
    const command = commandWord(io);
    const overview = createOverview(configuration, host.tools(demoName), command, await exampleServer(configuration));
    if (globals.json) return out.json(toDocument(overview));
    out.print(overviewText(overview, { home: io.home, style: out.style, command }));
  });
}

function toDocument({ workspace, files, servers, demoTools, problems, next }: Overview): object {
  return {
    workspace,
    files,
    servers: servers.map(({ server, admission }) => ({
      name: server.name,
      ...statusDocument(admission),
      transport: transportWord(server.kind),
      scope: server.scope,
      file: server.origin.file,
      line: server.origin.line,
    })),
    demo: { tools: demoTools.map(({ serverToolName }) => serverToolName) },
    problems,
    next,
  };
}

// Formats the overview that `fairlead` prints without a terminal: settings, servers, problems and next commands.
// Without servers it fits into 80 × 24 characters.

const mostServers = 10;
const mostProblems = 5;

interface Look {
  readonly home: string;
  readonly style: Style;
  /** The command as the user types it on this machine, for example `npx --no -- fairlead`. */
  readonly command: SafeText;
}

/** Returns the overview as text. Leaves out empty sections. */
export function overviewText(overview: Overview, look: Look): SafeText {
  const { style } = look;
  const sections = [
    { heading: safe`Found here (no server was started)`, lines: foundLines(overview, look) },
    { heading: safe`Servers`, lines: serverLines(overview, look) },
    { heading: safe`Problems`, lines: problemSection(overview, look) },
    { heading: safe`Built-in demo server`, lines: demoLines(overview, style) },
    { heading: safe`Next`, lines: nextLines(overview, style) },
  ];
  return joinSafe([
    safe`${style.bold(safe`Fairlead`)} connects a model to MCP servers and checks every call between them.`,
    ...sections
      .filter(({ lines }) => lines.length > 0)
      .flatMap(({ heading, lines }) => [safe``, style.bold(heading), ...lines]),
  ]);
}

function foundLines({ workspace, files, servers }: Overview, { home, style }: Look): SafeText[] {
  const { root, trusted, because } = workspace;
  const trustWords = safe`${trusted ? style.green(safe`trusted`) : style.yellow(safe`not trusted`)}: ${toSafeLine(because)}`;
  // System settings files usually do not exist, so a missing one is not shown.
  const shown = files.filter(({ scope, state }) => scope === "user" || scope === "workspace" || state !== "absent");
  const rows = [
    ...shown
      .filter(({ scope }) => scope !== "workspace")
      .map((file) => fileRow(file, shortPath(file.file, home), style)),
    [safe`workspace`, shortPath(root, home), trustWords],
    ...shown
      .filter(({ scope }) => scope === "workspace")
      .map((file) => fileRow(file, toSafeLine(relative(root, file.file)), style)),
    ...(servers.length === 0 ? [[safe`servers`, safe`none configured`, safe``]] : []),
  ];
  return [table(rows.map((row) => indented(row)))];
}

function fileRow({ scope, state }: SettingsFile, path: SafeText, style: Style): SafeText[] {
  return [safe`${toSafeLine(scope)} settings`, path, fileState(state, style)];
}

function fileState(state: SettingsFile["state"], style: Style): SafeText {
  switch (state) {
    case "read":
      return style.green(safe`read`);
    case "absent":
      return style.dim(safe`not found`);
    case "broken":
      return style.red(safe`broken, ignored`);
    case "ignored":
      return style.yellow(safe`ignored: the workspace is not trusted`);
  }
}

function serverLines({ servers }: Overview, { home, style, command }: Look): SafeText[] {
  if (servers.length === 0) return [];
  const rows = servers.slice(0, mostServers).map((server) => indented(serverRow(server, home, style)));
  const left = servers.length - rows.length;
  return [table(rows), ...(left > 0 ? [safe`  and ${left} more: ${command} mcp list`] : [])];
}

function serverRow({ server, admission }: AdmittedServer, home: string, style: Style): SafeText[] {
  const { name, kind, origin } = server;
  const status = statusWords(admission);
  return [
    toSafeLine(name),
    toSafeLine(transportWord(kind)),
    admission.status === "admitted" ? style.green(status) : style.yellow(status),
    style.dim(safe`${shortPath(origin.file, home)}:${origin.line}`),
  ];
}

/**
 * Formats the problems of single settings entries. Problems of a whole settings file were printed when the
 * configuration was loaded.
 */
function problemSection(overview: Overview, { command }: Look): SafeText[] {
  const problems = overview.problems.filter((problem) => !concernsFile(problem));
  const left = problems.length - mostProblems;
  return [
    ...problems.slice(0, mostProblems).map((problem) => withCommandWord(problemLines(problem), command)),
    ...(left > 0 ? [safe`and ${left} more: ${command} settings validate`] : []),
  ];
}

function demoLines({ demoTools }: Overview, style: Style): SafeText[] {
  const [first] = demoTools;
  if (first === undefined) return [];
  const names = demoTools.map(({ serverToolName }) => toSafeLine(serverToolName));
  return [safe`  ${style.cyan(toSafeLine(first.server))}: ${joinSafe(names, safe`, `)}`];
}

/** A long command does not move the column of the others, so that the lines fit 80 columns. */
function nextLines({ next }: Overview, style: Style): SafeText[] {
  const lengths = next.map(({ command }) => command.length).filter((length) => length <= 48);
  const column = Math.max(0, ...lengths);
  return next.map(
    ({ command, purpose }) => safe`  ${style.cyan(toSafeLine(command.padEnd(column)))}  ${toSafeLine(purpose)}`,
  );
}

function indented([first = safe``, ...others]: readonly SafeText[]): SafeText[] {
  return [safe`  ${first}`, ...others];
}

interface Suggestion {
  readonly command: string;
  readonly purpose: string;
}

/** The facts that the overview shows. */
export interface Overview {
  readonly workspace: {
    readonly root: string;
    readonly rootFrom: Locations["rootFrom"];
    readonly trusted: boolean;
    /** The flag, variable or rule that decided whether the workspace is trusted. */
    readonly because: string;
  };
  readonly files: readonly SettingsFile[];
  readonly servers: readonly AdmittedServer[];
  /** The tools of the demo server. Empty if a configured server uses the demo server's name. */
  readonly demoTools: readonly HostTool[];
  readonly problems: readonly Problem[];
  /** Suggested commands, which work exactly as written. */
  readonly next: readonly Suggestion[];
}

/**
 * Collects the facts of the overview. `command`: `fairlead` or `npx --no -- fairlead`, whichever works on this machine.
 * `example`: the name and the command of a server that can start here.
 */
export function createOverview(
  configuration: Configuration,
  demoTools: readonly HostTool[],
  command: string,
  example: string | undefined,
): Overview {
  const { locations, settings, trust, servers, problems } = configuration;
  const { root, rootFrom } = locations;
  return {
    workspace: { root, rootFrom, trusted: trust.trusted, because: trust.detail },
    files: settings.files,
    servers,
    demoTools,
    problems,
    next: suggestions({ servers, demoTools, problems, example }).map(({ command: words, purpose }) => ({
      command: `${command} ${words}`,
      purpose,
    })),
  };
}

function suggestions({
  servers,
  demoTools,
  problems,
  example,
}: Pick<Overview, "servers" | "demoTools" | "problems"> & { readonly example: string | undefined }): Suggestion[] {
  const [tool] = demoTools;
  const canApprove = servers.some(({ admission }) => admission.status === "blocked" && isForTrust(admission.reason));
  return [
    ...(tool === undefined ? [] : [{ command: `tools ${tool.server}`, purpose: "list the demo server's tools" }]),
    ...(tool === undefined
      ? []
      : [{ command: `call ${exampleCall(tool)}`, purpose: "call a tool of the demo server" }]),
    ...(canApprove ? [{ command: "trust add", purpose: "review and approve this folder's servers" }] : []),
    ...(problems.length > 0 ? [{ command: "settings validate", purpose: "show the problems in the settings" }] : []),
    ...(servers.length > 0 ? [{ command: "mcp list", purpose: "show your servers" }] : []),
    { command: "mcp import", purpose: "copy other programs' servers" },
    ...(example === undefined ? [] : [{ command: `mcp add -s user ${example}`, purpose: "add a server" }]),
    { command: "--help", purpose: "everything else" },
  ];
}

function isForTrust(reason: string): boolean {
  return reason === "awaiting_approval" || reason === "untrusted_folder";
}
