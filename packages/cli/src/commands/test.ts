/** `fairlead test`: runs checks against servers. */

import { writeFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { systemClock } from "@fairlead/core/clock";
import type { Redact } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { isInside, notRead, readText, realPathOf, toWriteError } from "@fairlead/core/files";
import { demoName, type Host } from "@fairlead/core/host";
import {
  type CheckedServer,
  type CheckFile,
  type CheckOutcome,
  type CheckTarget,
  createValidator,
  loadSnapshots,
  readCheckFile,
  runChecks,
  snapshotPath,
} from "@fairlead/core/request";
import { notConnectedError } from "@fairlead/core/server";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { addAdHocServer, type Configuration, isServerNameTaken } from "@fairlead/core/trust";
import { errorMessage } from "@fairlead/wire/text";
import { parse as parseYaml } from "yaml";
import { errorDocument, errorLines, type Output } from "../output/output.ts";
import { configurationOf } from "../shell/configuration.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { adHocName } from "../targets/ad-hoc-server.ts";
import { hasDemo, useHost } from "../targets/with-host.ts";
import { findServer } from "./mcp/find-server.ts";

export const verb: Verb = {
  help: `
A file is YAML or JSON:

  server: files                        a server of your settings, or:
  command: [node, server.js]           a program, started in the file's folder; the folder must be trusted
  tools: { include: [read], exact: false, snapshot: false }
  mask: ["req-[0-9]+"]                 patterns to mask in snapshots; ids and times are always masked
  checks:
    - name: reads a file
      call: read
      arguments: { path: a.txt }
      expect:
        text: exact text               or contains: part, or matches: pattern
        structured: { size: 3 }        a part of the structured content
        schema: { type: object }       a JSON Schema for the structured content
        snapshot: true                 compare with FILE.snap.json, which --update writes
        isError: false
        latency: { baseline: name of an earlier check, ratio: 3 }

A check also fails if a tool with the annotation readOnlyHint changes the server's lists.
Policy rules apply as to a call that you type.
Exit codes: 0 all checks passed, 1 a check failed.

Examples:
  fairlead test checks.yaml
  fairlead test checks/*.yaml --junit report.xml --trust-workspace
  fairlead test checks.yaml --update`,

  define(command) {
    command
      .argument("<file...>", "the files that contain the checks")
      .option("--update", "write snapshots instead of comparing them")
      .option("--junit <file>", "write the outcomes as JUnit XML, for CI");
  },

  async run(context) {
    const { io, out, globals, operands, command } = context;
    const { update = false, junit } = command.opts<{ readonly update?: boolean; readonly junit?: string }>();
    const configuration = await configurationOf(context);
    const validator = createValidator();
    const reports: FileReport[] = [];
    try {
      for (const word of operands) {
        const loaded = await loadChecks(word, io.cwd);
        if (!globals.json) out.print(out.style.bold(toSafeLine(relative(io.cwd, loaded.path) || word)));
        reports.push(await runFile(loaded, configuration, validator, update, context));
      }
    } finally {
      await validator.close();
    }
    if (junit !== undefined) await write(resolve(io.cwd, junit), junitText(reports));
    if (globals.json) out.json(checksDocument(reports));
    failUnlessPassed(reports);
  },
};

async function runFile(
  { path, file }: Awaited<ReturnType<typeof loadChecks>>,
  configuration: Configuration,
  validator: ReturnType<typeof createValidator>,
  update: boolean,
  context: Context,
): Promise<FileReport> {
  const { out, globals } = context;
  const kept = snapshotPath(path);
  const snapshots = await loadSnapshots(kept, update);
  try {
    return await withCheckedServer(file.target, path, configuration, context, async (server, name) => {
      const outcomes = await runChecks(file, server, {
        snapshots,
        validator,
        clock: systemClock,
        onOutcome: (outcome) => {
          if (!globals.json) out.print(outcomeText(outcome, out.style));
        },
      });
      const text = snapshots.changedText();
      if (text !== undefined) await write(kept, text);
      return { file: path, server: name, outcomes };
    });
  } catch (error) {
    if (!(error instanceof HostError) || error.code === "cancelled") throw error;
    if (!globals.json) out.print(safe`  ${out.style.red(safe`✗`)} ${errorLines(error)}`);
    return { file: path, outcomes: [], error };
  }
}

async function write(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((error: unknown) => {
    throw toWriteError(file, error);
  });
}

// Reads a file of checks, in YAML or JSON.

const largestFile = 4 * 1024 * 1024;

/**
 * Reads a file of checks.
 * @throws HostError `not_found`, or `usage` with the mistake in the file
 */
export async function loadChecks(
  word: string,
  cwd: string,
): Promise<{ readonly path: string; readonly file: CheckFile }> {
  const path = resolve(cwd, word);
  const found = await readText(path, largestFile);
  switch (found.kind) {
    case "absent":
      throw new HostError("not_found", `the file of checks ${path} does not exist`, { next: "fairlead test --help" });
    case "unreadable":
      throw notRead(path, found.reason, found.cause);
    case "text":
      return { path, file: readCheckFile(parse(found.text, path), path) };
  }
}

/**
 * Parses YAML, which includes JSON. Limits the number of aliases, because each alias can repeat a large part of the
 * document.
 */
function parse(text: string, path: string): unknown {
  try {
    return parseYaml(text, { maxAliasCount: 100, prettyErrors: true, logLevel: "error" }) as unknown;
  } catch (cause) {
    const [first = ""] = errorMessage(cause).split("\n");
    throw new HostError("usage", `${path} cannot be read: ${first.replace(/:$/, "")}`, { cause });
  }
}

// Connects to the server that a file of checks tests: a configured server, or one that the file's command starts.

/**
 * Connects to the server that the file tests, and passes the connected server to `use`.
 *
 * @throws HostError `server_unknown`, `untrusted_folder`, or the reason why the connection failed
 */
async function withCheckedServer<T>(
  target: CheckTarget,
  path: string,
  configured: Configuration,
  context: Context,
  use: (server: CheckedServer, name: string) => Promise<T>,
): Promise<T> {
  const { configuration, name } = await serverOf(target, configured, path);
  let redact: Redact = (text) => text;
  return useHost(
    configuration,
    context,
    async (host) => {
      await host.start({ servers: [name], signal: context.io.signal });
      const state = host.states().find((each) => each.name === name);
      if (state?.status !== "connected")
        throw state === undefined ? new HostError("server_unknown", `no server "${name}"`) : notConnectedError(state);
      const { extras } = configuration.servers.find((each) => each.server.name === name)?.server.definition ?? {};
      const server = toCheckedServer(host, name, context.io.signal);
      return use({ ...server, redact: (text) => redact(text), hidesResults: extras?.hideResults === true }, name);
    },
    {
      observe(_server, step) {
        if (step.step === "definition") redact = step.redact;
      },
    },
  );
}

function toCheckedServer(
  host: Host,
  name: string,
  signal: AbortSignal,
): Pick<CheckedServer, "tools" | "call" | "listing"> {
  return {
    tools: host.catalog(name)?.tools ?? [],
    async call(tool, args) {
      try {
        return await host.call(name, tool, args, { signal });
      } catch (error) {
        if (!(error instanceof HostError) || error.code === "cancelled") throw error;
        return { isError: true, content: [{ type: "text", text: error.message }] };
      }
    },
    async listing() {
      await host.refresh(name, { signal });
      const { tools = [], resources = [], prompts = [] } = host.catalog(name) ?? {};
      return [
        ...tools.map((tool) => `tool ${tool.name}`),
        ...prompts.map((prompt) => `prompt ${prompt.name}`),
        ...resources.map(({ uri }) => `resource ${uri}`),
      ];
    },
  };
}

async function serverOf(
  target: CheckTarget,
  configuration: Configuration,
  path: string,
): Promise<{ readonly configuration: Configuration; readonly name: string }> {
  if ("server" in target) {
    const isDemo = target.server === demoName && hasDemo(configuration);
    return { configuration, name: isDemo ? demoName : findServer(configuration, target.server).server.name };
  }
  const file = await realPathOf(path);
  requireTrusted(file, path, configuration);
  const [command, ...args] = target.command;
  // Fairlead would expand `$NAME` in the entry. The file's command must run as written, so "$" is escaped.
  const plain = (word: string): string => word.replaceAll("$", "$$$$");
  const entry = {
    command: plain(command),
    args: args.map(plain),
    cwd: plain(dirname(file)),
    ...(target.env && { env: target.env }),
  };
  const wanted = adHocName({ command, args });
  let name = wanted;
  for (let number = 2; isServerNameTaken(name, configuration); number += 1) name = `${wanted}-${number}`;
  return { configuration: (await addAdHocServer(configuration, { name, entry })).configuration, name };
}

/**
 * Refuses the file's command if the file is not inside the trusted workspace, because the user may never have seen it.
 *
 * @param file The real path, because a symbolic link may lead outside the workspace.
 */
function requireTrusted(file: string, path: string, { trust, locations }: Configuration): void {
  if (!isInside(file, locations.root))
    throw new HostError(
      "untrusted_folder",
      `the command in ${path} was not started: ${file} is not in the workspace ${locations.root}`,
      { next: `fairlead test ${file} -C ${dirname(file)}` },
    );
  if (!trust.trusted)
    throw new HostError(
      "untrusted_folder",
      `the command in ${path} was not started: ${locations.root} is not trusted`,
      { next: "fairlead trust add, or for this run: --trust-workspace" },
    );
}

// Formats the outcomes of `fairlead test` as text, as JSON and as JUnit XML.

/** The outcomes of the checks in one file. `error` is set if the file is invalid or its server could not be reached. */
export interface FileReport {
  readonly file: string;
  readonly server?: string;
  readonly outcomes: readonly CheckOutcome[];
  readonly error?: HostError;
}

function isPassed({ outcomes, error }: FileReport): boolean {
  return error === undefined && outcomes.every(({ status }) => status !== "failed");
}

const symbols = { passed: "✓", updated: "↻", failed: "✗" } as const;

/** Returns one line for a check, and one line for each of its problems. */
export function outcomeText({ name, status, durationMs, problems }: CheckOutcome, style: Output["style"]): SafeText {
  const symbol = status === "failed" ? style.red(safe`✗`) : style.green(toSafeLine(symbols[status]));
  const note = status === "updated" ? safe`, snapshot written` : safe``;
  return joinSafe([
    safe`  ${symbol} ${toSafeLine(name)} (${Math.round(durationMs)} ms${note})`,
    ...problems.map((problem) => safe`      ${toSafeLine(problem)}`),
  ]);
}

/** Returns the output of `fairlead test --json`. */
export function checksDocument(reports: readonly FileReport[]): object {
  return {
    ok: reports.every(isPassed),
    files: reports.map(({ file, server, outcomes, error }) => ({
      file,
      server,
      ok: isPassed({ file, outcomes, error }),
      checks: outcomes.map(({ durationMs, ...outcome }) => ({ ...outcome, durationMs: Math.round(durationMs) })),
      error: error && errorDocument(error),
    })),
  };
}

/** Returns JUnit XML for CI services: a test suite for each file, a test case for each check. */
export function junitText(reports: readonly FileReport[]): string {
  const suites = reports.map((report) => {
    const { file, outcomes, error } = report;
    const cases = outcomes.map(({ name, tool = "tools", status, durationMs, problems }) => {
      const open = `    <testcase classname="${xml(tool)}" name="${xml(name)}" time="${seconds(durationMs)}"`;
      if (status !== "failed") return `${open}/>`;
      const [first = ""] = problems;
      return `${open}>\n      <failure message="${xml(first)}">${xml(problems.join("\n"))}</failure>\n    </testcase>`;
    });
    if (error)
      cases.push(
        `    <testcase classname="server" name="connect">\n      <error message="${xml(error.message)}"/>\n    </testcase>`,
      );
    const failures = outcomes.filter(({ status }) => status === "failed").length;
    const total = outcomes.reduce((sum, { durationMs }) => sum + durationMs, 0);
    const counts = `tests="${cases.length}" failures="${failures}" errors="${error ? 1 : 0}" time="${seconds(total)}"`;
    return `  <testsuite name="${xml(file)}" ${counts}>\n${cases.join("\n")}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join("\n")}\n</testsuites>\n`;
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

/**
 * Escapes text for XML. Replaces characters that XML 1.0 forbids, because a server's text may contain any character.
 */
function xml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\u{fffd}")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;");
}

/**
 * Makes the command fail, unless all checks passed.
 *
 * @throws HostError `diverged` if a check failed or a file could not be tested
 */
export function failUnlessPassed(reports: readonly FileReport[]): void {
  const failed = reports.flatMap(({ outcomes }) => outcomes).filter(({ status }) => status === "failed").length;
  const broken = reports.filter(({ error }) => error !== undefined).length;
  if (failed + broken === 0) return;
  const checks = reports.flatMap(({ outcomes }) => outcomes).length;
  const parts = [
    ...(failed > 0 ? [`${failed} of ${checks} checks failed`] : []),
    ...(broken > 0 ? [`${broken} of ${reports.length} files could not be tested`] : []),
  ];
  const update = "if the server is right, change the expectations, or write new snapshots: fairlead test FILE --update";
  const next = failed > 0 ? update : reports.find(({ error }) => error?.next !== undefined)?.error?.next;
  throw new HostError("diverged", parts.join(", and "), next === undefined ? {} : { next });
}
