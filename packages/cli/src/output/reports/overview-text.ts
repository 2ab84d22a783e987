/**
 * Formats the overview that `fairlead` prints without a terminal: settings, servers, problems and next commands.
 * Without servers it fits into 80 × 24 characters.
 */

import { relative } from "node:path";
import type { HostTool } from "@fairlead/core/host";
import type { Problem, SettingsFile } from "@fairlead/core/settings/define/definition";
import type { Locations } from "@fairlead/core/settings/read/paths";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import { withCommandWord } from "../../shell/command-word.ts";
import { concernsFile } from "../../shell/configuration.ts";
import { type Style, table } from "../output.ts";
import { problemLines, transportWord } from "../servers/server-details.ts";
import { statusWords } from "../servers/server-state.ts";
import { shortPath } from "../time-text.ts";
import { exampleCall } from "../tools/signature.ts";

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
