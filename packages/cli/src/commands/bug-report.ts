/** `fairlead bug-report`: writes one file with everything that a maintainer needs, and no secrets. */

import { readFile, writeFile } from "node:fs/promises";
import { release } from "node:os";
import { dirname, resolve } from "node:path";
import { createRedactor, logPath, type Redact } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { explain, systemCode, unless } from "@fairlead/core/files";
import { configuredSecrets, type Host } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/plain-text";
import { type Locations, plainValueOf, readSources } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeJson, toSafeLine, toSafeText } from "@fairlead/core/text/safe-text";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import { isObject, listOf, member, objectOf, parseJson } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { type ListedServer, serverDocument } from "../output/servers/server-state.ts";
import { configurationOf } from "../shell/configuration.ts";
import { canAsk, confirm } from "../shell/prompt.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { version } from "../shell/version.ts";
import { connectServers } from "../targets/connect-servers.ts";
import { useHost } from "../targets/with-host.ts";
import { findServer } from "./mcp/find-server.ts";

const issues = "https://github.com/fairlead/fairlead/issues";

export const verb: Verb = {
  help: `
Collects versions, the keys of your settings without values, the states of the servers, and the last lines of their
logs. With a server's name, it also connects to that server, and adds the steps of the connection and the last protocol
messages, without their content. Shows the whole text, and asks before it writes the file. Nothing is sent anywhere.

Secrets that Fairlead knows (settings, variables, headers, tokens) are hidden. Read the file before you share it: a server's
own log lines may contain more.

Examples:
  fairlead bug-report
  fairlead bug-report github
  fairlead bug-report github -o report.md --yes`,

  define(command) {
    command
      .argument("[server]", "also connect to this server; include only this server's log")
      .option("-o, --output <file>", "the file to write; default: fairlead-bug-report-TIME.md in the current folder")
      .option("--yes", "write the file without asking");
  },

  async run(context) {
    const { io, out, globals, command, operands } = context;
    const { output, yes: isYes = false } = command.opts<{ readonly output?: string; readonly yes?: boolean }>();
    if (!isYes && !canAsk(io))
      throw new HostError("usage", "bug-report asks before it writes, and there is no terminal to ask on", {
        next: [command.name(), ...operands, "--yes"].join(" "),
      });
    const configuration = await configurationOf(context);
    const [name] = operands;
    const server = name === undefined ? undefined : findServer(configuration, name);
    const { report, hide } = await collectReport(configuration, server, context);
    const text = reportText(report, hide);
    const file = resolve(
      io.cwd,
      output ?? `fairlead-bug-report-${report.created.slice(0, 19).replaceAll(":", "-")}.md`,
    );
    if (!globals.json) out.print(text);
    if (!isYes && !(await confirm(io, safe`Write this report to ${toSafeLine(file)}?`)))
      return globals.json ? out.json({ written: false }) : out.say(safe`nothing was written`);
    await writeReport(file, text);
    if (globals.json) return out.json({ written: true, file, text });
    out.say(
      safe`written: ${toSafeLine(file)}\nnext: read the file, then attach it to an issue at ${toSafeLine(issues)}`,
    );
  },
};

/**
 * Writes the report to a new file that only its owner can read. Never overwrites an existing file.
 * @throws HostError `usage`
 */
async function writeReport(file: string, text: SafeText): Promise<void> {
  try {
    await writeFile(file, text, { flag: "wx", mode: 0o600 });
  } catch (cause) {
    const { why, next = "choose another file with -o" } = notWrittenBecause(cause, dirname(file));
    throw new HostError("usage", `${file} cannot be written: ${why}`, { next, cause });
  }
}

function notWrittenBecause(error: unknown, folder: string): { readonly why: string; readonly next?: string } {
  const code = systemCode(error);
  if (code === "ENOENT") return { why: `there is no folder ${folder}`, next: `mkdir -p ${toShellWord(folder)}` };
  return { why: code === "EEXIST" ? "the file exists" : explain(error) };
}

// Collects the facts of a bug report. If the user names a server, connects to this server once and logs the protocol
// messages.

/** The parts of a bug report. The finished text must still go through `hide`. */
export interface BugReport {
  readonly created: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly trusted: boolean;
  readonly settings: readonly SettingsOutline[];
  /** Problems in the settings: only their place and code, because a message may quote a secret value. */
  readonly problems: readonly string[];
  readonly servers: readonly object[];
  /** The attempt to connect to the server that the user named. Absent if the user named no server. */
  readonly attempt?: Attempt;
  readonly logs: readonly { readonly server: string; readonly lines: readonly string[] }[];
}

interface Attempt {
  readonly server: string;
  readonly steps: readonly string[];
  readonly messages: readonly string[];
}

const mostLines = 40;
const mostMessages = 30;
const longestLine = 500;

/** Collects the facts. With `server`, connects to that server if it may start. */
async function collectReport(configuration: Configuration, server: AdmittedServer | undefined, context: Context) {
  const { locations, environment, servers, trust, problems } = configuration;
  const settings = await readSettings(locations);
  const created = new Date().toISOString();
  const found = await observe(configuration, server, context);
  const names = new Set(servers.map((each) => each.server.name));
  const redact = createRedactor([
    ...configuredSecrets(configuration),
    ...settings.values.filter((value) => !names.has(value)),
  ]);
  const { home } = environment;
  // A home folder "/" is not replaced by "~", because every path contains "/".
  const withoutHome: Redact = (text) => (home.length > 1 ? text.replaceAll(home, "~") : text);
  const hide: Redact = (text) => withoutHome(redact(found.hide(text)));
  const named = server === undefined ? servers : [server];
  const logs = await Promise.all(
    named.map(async ({ server: { name } }) => {
      const lines = await readLog(logPath(locations.state, name));
      // Leaves out messages of this command's own connection, which have their own section in the report.
      const isEarlier = (line: string): boolean => line < created || !isWire(line);
      return { server: name, lines: lines.filter(isEarlier).slice(-mostLines).map(summarised(hide)) };
    }),
  );
  return {
    hide,
    report: {
      created,
      versions: {
        fairlead: version(),
        node: process.version,
        system: `${environment.platform} ${release()} ${process.arch}`,
      },
      trusted: trust.trusted,
      settings: settings.outlines,
      problems: problems.map(({ severity, code, serverName, origin }) =>
        [severity, code, serverName ?? "", origin === undefined ? "" : `${origin.file}:${origin.line}`]
          .join(" ")
          .trim(),
      ),
      servers: found.listed.map(serverDocument),
      attempt: server && (await attemptOf(server, created, { steps: found.steps, hide }, locations.state)),
      logs: logs.filter(({ lines }) => lines.length > 0),
    },
  };
}

interface Observed {
  readonly listed: readonly ListedServer[];
  readonly steps: readonly string[];
  readonly hide: Redact;
}

/** Returns the states of all servers. Connects only to the server that the user named. */
function observe(
  configuration: Configuration,
  server: AdmittedServer | undefined,
  context: Context,
): Promise<Observed> {
  const name = server?.server.name;
  const steps: string[] = [];
  let hide: Redact = (text) => text;
  const look = async (host: Host): Promise<Observed> => {
    const [cached, failed] = await Promise.all([host.recall(), host.failedStarts()]);
    if (server?.admission.status === "admitted") await connectServers(host, [server.server.name], context);
    const listed = configuration.servers.flatMap((each): ListedServer[] => {
      const state = host.states().find((one) => one.name === each.server.name);
      const isOf = ({ server: other }: { readonly server: string }): boolean => other === each.server.name;
      return state === undefined
        ? []
        : [{ server: each.server, state, cachedCatalog: cached.find(isOf), failed: failed.find(isOf) }];
    });
    return { listed, steps, hide };
  };
  const globals = { ...context.globals, debug: name ?? context.globals.debug };
  return useHost(configuration, { ...context, globals }, look, {
    observe(_name, step) {
      if (step.step === "definition") hide = step.redact;
      const words = step.step === "list" ? `${step.step} ${step.method}: ${step.items} items` : step.step;
      steps.push(`${words}, ${Math.round(step.milliseconds)} ms`);
    },
  });
}

async function attemptOf(
  { server }: AdmittedServer,
  since: string,
  { steps, hide }: Pick<Observed, "steps" | "hide">,
  state: string,
): Promise<Attempt> {
  const lines = (await readLog(logPath(state, server.name))).filter((line) => line >= since && isWire(line));
  return { server: server.name, steps, messages: lines.map(summarised(hide)).slice(-mostMessages) };
}

async function readLog(path: string): Promise<readonly string[]> {
  const text = await readFile(path, "utf8").catch(unless("ENOENT"));
  return (text ?? "").split("\n").filter((line) => line !== "");
}

function isWire(line: string): boolean {
  return /^\S+ wire /.test(line);
}

/** Returns a function for log lines: hides secrets, replaces protocol messages by summaries, and cuts long lines. */
function summarised(hide: Redact): (logged: string) => string {
  const summary = createWireSummary();
  return (logged) => {
    const line = hide(logged);
    if (!isWire(line)) return line.slice(0, longestLine);
    const [time = "", kind = "", ...message] = line.split(" ");
    return `${time} ${kind} ${summary(message.join(" "))}`.slice(0, longestLine);
  };
}

// Reads the keys of the settings files, and the values that a bug report must not contain.

/** One settings file in a bug report: its keys, without values except booleans. */
interface SettingsOutline {
  readonly scope: string;
  readonly file: string;
  readonly state: string;
  /** The keys of the settings file, each with its type or its boolean value. Undefined if the file cannot be read. */
  readonly keys?: unknown;
}

/** Reads the settings files of all scopes, even those of an untrusted workspace. */
export async function readSettings(
  locations: Locations,
): Promise<{ readonly outlines: readonly SettingsOutline[]; readonly values: readonly string[] }> {
  const sources = await readSources(locations);
  const read = sources.map(({ scope, file, state, root }) => ({
    scope,
    file,
    state,
    value: root && plainValueOf(root),
  }));
  return {
    outlines: read.map(({ value, ...source }) => ({
      ...source,
      keys: value === undefined ? undefined : outlineOf(value),
    })),
    values: [...new Set(read.flatMap(({ value }) => unusualTexts(value)))],
  };
}

function outlineOf(value: unknown): unknown {
  if (Array.isArray(value)) return `(list of ${value.length})`;
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, outlineOf(inner)]));
  return typeof value === "boolean" ? value : `(${typeof value === "string" ? "text" : typeof value})`;
}

/**
 * Matches a value that is probably an API key, a token or a password: letters and digits, but no space, slash or `@`.
 */
const unusual = /^(?=.*\d)(?=.*[A-Za-z])[^\s/\\@]{8,}$/;

function unusualTexts(value: unknown): readonly string[] {
  if (typeof value === "string") return [value, ...value.split(/[\s=:,]+/)].filter((text) => unusual.test(text));
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(unusualTexts) : [];
}

// Summarises protocol messages without their content: methods, sizes, versions, capabilities and errors.

/**
 * Returns a function that summarises the logged messages of one connection. It remembers requests, so that the summary
 * of a response names the method.
 */
export function createWireSummary(): (logged: string) => string {
  const methods = new Map<unknown, string>();
  return (logged) => {
    const [direction = "", ...rest] = logged.split(" ");
    const json = rest.join(" ");
    const size = `${json.length} characters`;
    // Undefined for a long message: the log cuts it, so it is no longer valid JSON.
    const message = parseJson(json);
    if (!isObject(message)) return `${direction} ${methodIn(json)} (${size})`;
    const { method, id, params, result, error } = message;
    if (typeof method === "string" && id !== undefined) methods.set(id, method);
    const name = typeof method === "string" ? method : `response to ${methods.get(id) ?? "a request"}`;
    const number = typeof id === "number" ? ` #${id}` : "";
    const inner = [
      ["params", params],
      ["result", result],
      ["error", error],
    ].flatMap(([label, value]) =>
      value === undefined ? [] : [`${String(label)} ${JSON.stringify(withoutContent(value))}`],
    );
    return `${direction} ${clip(name, 100)}${number} (${size}) ${inner.join(" ")}`.trimEnd();
  };
}

function methodIn(json: string): string {
  return /"method":"([\w/-]{1,60})"/.exec(json)?.[1] ?? "message";
}

const longestVersion = 80;

/**
 * Keeps the members of a message that describe the connection, such as `protocolVersion`. Replaces the value of every
 * other member by its size.
 */
function withoutContent(value: unknown): unknown {
  if (!isObject(value)) return sizeOf(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === "protocolVersion" && typeof inner === "string") return [key, clip(inner, longestVersion)];
      if (key === "capabilities") return [key, namesOf(inner, 2)];
      if (key === "serverInfo" || key === "clientInfo") return [key, identityOf(inner)];
      if (key === "code" && typeof inner === "number") return [key, inner];
      // A `message` next to a numeric `code` is an error message. Any other `message` is content.
      if (key === "message" && typeof inner === "string" && typeof member(value, "code") === "number")
        return [key, clip(inner, 300)];
      return [clip(key, 60), sizeOf(inner)];
    }),
  );
}

function identityOf(info: unknown): object {
  const { name, version } = objectOf(info);
  return { name: clip(String(name), longestVersion), version: clip(String(version), longestVersion) };
}

/** Returns the names of the capabilities, which say what a server supports. */
function namesOf(value: unknown, depth: number): unknown {
  if (!isObject(value) || depth === 0) return typeof value === "boolean" ? value : sizeOf(value);
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 30)
      .map(([key, inner]) => [clip(key, 60), namesOf(inner, depth - 1)]),
  );
}

function sizeOf(value: unknown): string {
  if (Array.isArray(value)) return `(list of ${listOf(value).length})`;
  if (isObject(value)) return `(object with ${Object.keys(value).length} members)`;
  return typeof value === "string" ? `(text of ${value.length})` : `(${value === null ? "null" : typeof value})`;
}

// Writes a bug report as one Markdown file for a maintainer.

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
