/** The text of `fairlead` without a terminal: settings, servers, problems and next commands. Fits 80 × 24 without servers. */

import { relative, sep } from "node:path";
import type { SettingsFile } from "@fairlead/core/settings/define/definition";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer } from "@fairlead/core/trust/configuration";
import { withCommandWord } from "../../shell/command-word.ts";
import { concernsFile } from "../../shell/configuration.ts";
import type { Overview } from "../../shell/overview.ts";
import { type Style, table } from "../output.ts";
import { problemLines } from "../problem-lines.ts";
import { statusWords } from "../servers/server-status.ts";
import { transportWord } from "../servers/transport-word.ts";

const mostServers = 10;
const mostProblems = 5;

interface Look {
  readonly home: string;
  readonly style: Style;
  /** The command as it is typed here, for example `npx fairlead`. */
  readonly command: SafeText;
}

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
  // Missing system files are usual and not shown.
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

/** Problems of a whole file were printed when the configuration was loaded. */
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

function nextLines({ next }: Overview, style: Style): SafeText[] {
  return [table(next.map(({ command, purpose }) => indented([style.cyan(toSafeLine(command)), toSafeLine(purpose)])))];
}

function indented([first = safe``, ...others]: readonly SafeText[]): SafeText[] {
  return [safe`  ${first}`, ...others];
}

/** The path with `~` for the home folder. */
function shortPath(path: string, home: string): SafeText {
  if (path === home) return safe`~`;
  return path.startsWith(`${home}${sep}`) ? safe`~${toSafeLine(path.slice(home.length))}` : toSafeLine(path);
}
