/** `fairlead call`: runs one tool. Typing it is consent to that one call. */

import { HostError } from "@fairlead/core/errors";
import type { CallResult } from "@fairlead/core/execute/call-tool";
import { demoName, type Host } from "@fairlead/core/host";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { readArguments } from "../arguments.ts";
import { connectServers } from "../connect-servers.ts";
import { toBlocks, toDocument } from "../content-block.ts";
import { display } from "../output/display.ts";
import type { Output } from "../output/output.ts";
import { createProgressLine } from "../output/progress.ts";
import { nothingSaved, openSaveFolder, saveMedia } from "../save-media.ts";
import { findTarget, type Target } from "../target.ts";
import type { Context, Verb } from "../verb.ts";
import { hasDemo, withHost } from "../with-host.ts";

interface Options {
  readonly server?: string;
  readonly tool?: string;
  readonly args?: string;
  readonly yes?: boolean;
  readonly timeout?: string;
  readonly save?: string;
}

export const verb: Verb = {
  define(command) {
    command
      .usage("<server.tool> [key=value …] [options]")
      .argument("[words...]", "the tool, then its arguments")
      .option("--server <name>", "with --tool: the server, when names have dots that confuse")
      .option("--tool <name>", "with --server: the tool")
      .option("--args <json>", "all arguments as one JSON object")
      .option("--yes", "answer yes if a rule asks before this call; a rule that denies still does")
      .option("--timeout <ms>", "the longest silence to put up with, in milliseconds; progress restarts it")
      .option("--save <dir>", "write images, audio and other files of the result into this folder")
      .addHelpText(
        "after",
        `
How arguments are written:
  key=value    as the tool's schema says: text stays text; numbers, true, false,
               [lists] and {objects} are parsed where the schema wants them
  key:=json    always JSON: count:=3, tags:='["a","b"]', name:='"@home"'
  key=@file    the content of a file; key:=@file reads JSON from a file
  --args JSON  all of them at once
  -            the same from stdin

Connects to that one server. The result goes to stdout, progress to stderr. Exit code 7 means that the tool
reported an error (its text is still printed), 130 that Ctrl-C cancelled it.

Examples:
  fairlead call demo.greet name=Ada
  fairlead call demo.greet name=Ada language=fr loud=true
  fairlead call demo.count to=3
  fairlead call demo.picture pattern=rings --save .
  fairlead call demo.statistics text=@README.md --json
  echo '{"name": "Ada"}' | fairlead call demo.greet -
  fairlead call --server demo --tool wait seconds=60 --timeout 2000`,
      );
  },

  run: (context) => withHost(context, (host, configuration) => run(context, host, configuration)),
};

async function run(context: Context, host: Host, configuration: Configuration): Promise<void> {
  const { io, out, globals, command } = context;
  const options = command.opts<Options>();
  const timeout = readTimeout(options.timeout);
  const { target, words } = await readTarget(context, options, host, configuration);
  const tool = host.tools(target.server).find(({ serverToolName }) => serverToolName === target.tool);
  // Without a tool the call can only say why: that comes before any look at the arguments.
  const args = tool && (await readArguments({ words, json: options.args }, tool.parametersJsonSchema, { io, out }));
  const folder = options.save === undefined ? undefined : await openSaveFolder(options.save, io.cwd);
  const progress = createProgressLine(toSafeLine(nameOf(target)), io, globals.quiet);
  const started = performance.now();
  const call = host.call(target.server, target.tool, args, {
    signal: io.signal,
    onProgress: progress.update,
    ...(timeout === undefined ? {} : { timeout }),
  });
  const outcome = await settle(call, target).finally(progress.clear);
  const durationMs = Math.round(performance.now() - started);
  await report({ ...outcome, target, durationMs, folder }, out, globals.json);
}

function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const milliseconds = Number(text);
  if (!Number.isSafeInteger(milliseconds) || milliseconds <= 0)
    throw new HostError("usage", `--timeout must be a number of milliseconds, not "${text}"`);
  return milliseconds;
}

/** The tool that is meant, and the words that are left for its arguments. */
async function readTarget(
  context: Context,
  { server, tool }: Options,
  host: Host,
  configuration: Configuration,
): Promise<{ readonly target: Target; readonly words: readonly string[] }> {
  const words = [...context.operands, ...context.rest];
  if (server !== undefined && tool !== undefined) {
    await connectServers(host, [server], context);
    return { target: { server, tool }, words };
  }
  if (server !== undefined || tool !== undefined) throw new HostError("usage", "--server and --tool go together");
  const [word, ...others] = words;
  if (word === undefined) throw new HostError("usage", "which tool?", { next: "fairlead tools" });
  const names = host.states().map(({ name }) => name);
  // Only servers whose name the word begins with can be meant: nearly always one.
  const meant = names.filter((name) => word.startsWith(`${name}.`));
  // Where none can, what the demo server has may still be what was meant, and costs nothing.
  await connectServers(host, meant.length === 0 && hasDemo(configuration) ? [demoName] : meant, context);
  const servers = names.map((name) => ({ name, tools: host.tools(name).map((known) => known.serverToolName) }));
  return { target: findTarget(word, servers), words: others };
}

interface Outcome {
  readonly content: CallResult["content"];
  readonly structuredContent?: unknown;
  readonly warnings?: readonly string[];
  readonly error?: HostError;
}

/** An error that the tool reports has content; any other has none. */
async function settle(call: Promise<CallResult>, target: Target): Promise<Outcome> {
  try {
    const { isError, ...result } = await call;
    if (!isError) return result;
    const error = new HostError("tool_error", `${nameOf(target)} reported an error`, { serverName: target.server });
    return { ...result, error };
  } catch (error) {
    if (error instanceof HostError) return { content: [], error };
    throw error;
  }
}

interface Report extends Outcome {
  readonly target: Target;
  readonly durationMs: number;
  /** Where bytes go; absent: nowhere. */
  readonly folder: string | undefined;
}

async function report(
  { content, target, durationMs, folder, error, warnings: doubts = [], ...data }: Report,
  out: Output,
  json: boolean,
): Promise<void> {
  const blocks = toBlocks(content);
  const saved = folder === undefined ? nothingSaved : await saveMedia(blocks, folder, nameOf(target));
  const { paths } = saved;
  const warnings = [...doubts, ...saved.warnings];
  const shown = display(blocks, paths, data);
  if (json)
    out.json({
      ok: error === undefined,
      ...target,
      content: toDocument(content),
      ...data,
      display: shown,
      durationMs,
      ...(paths.size > 0 && { saved: [...paths.values()] }),
      ...(warnings.length > 0 && { warnings }),
      ...(error && {
        error: { code: error.code, message: error.message, ...(error.next !== undefined && { next: error.next }) },
      }),
    });
  else if (shown !== "") out.print(shown);
  else if (error === undefined) out.say(safe`${toSafeLine(nameOf(target))} answered with nothing`);
  for (const warning of warnings) out.warn(toSafeLine(warning));
  if (error !== undefined) throw error;
}

function nameOf({ server, tool }: Target): string {
  return `${server}.${tool}`;
}
