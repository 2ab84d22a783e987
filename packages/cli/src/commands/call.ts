/** `fairlead call`: runs one tool. By typing the command, the user allows this one call. */

import { HostError } from "@fairlead/core/errors";
import type { ServerState } from "@fairlead/core/events";
import { demoName, type Host } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/plain-text";
import { type CatalogTool, type Elicit, type ElicitationAnswer, notConnectedError } from "@fairlead/core/server";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { type Configuration, type ProgramPlace, programPlace } from "@fairlead/core/trust";
import { isObject } from "@fairlead/wire/json";
import { checkParameterNames, readArguments, toNamedArguments } from "../arguments/arguments.ts";
import { type CallExpression, parseCallExpression } from "../arguments/call-expression.ts";
import { defineTimeoutOption, timeoutOption } from "../arguments/duration.ts";
import { defineImageOption, imageDrawing } from "../output/reports/inline-image.ts";
import { createProgressLine, type ProgressLine } from "../output/reports/progress.ts";
import { outcomeOfCall, reportCall } from "../output/reports/result-reports.ts";
import { exampleCall } from "../output/tools/signature.ts";
import { configurationOf } from "../shell/configuration.ts";
import { canAsk } from "../shell/prompt.ts";
import { openSaveFolder } from "../shell/save-media.ts";
import { confirmTypedRequest } from "../shell/typed-confirmation.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { defineAdHocOptions, isAddress, isTyped, openAdHoc } from "../targets/ad-hoc.ts";
import { backgroundFor, defineAloneOption } from "../targets/background.ts";
import { connectServers } from "../targets/connect-servers.ts";
import {
  deniedOwners,
  findToolTarget,
  isDeniedByName,
  refuseUnsureName,
  type ToolTarget,
  targetName,
} from "../targets/target.ts";
import { hasDemo, useHost } from "../targets/with-host.ts";

interface Options {
  readonly server?: string;
  readonly tool?: string;
  readonly args?: string;
  readonly yes?: boolean;
  readonly timeout?: string;
  readonly save?: string;
  readonly name?: string;
}

export const verb: Verb = {
  help: `
Arguments:
  key=value      text, or what the tool's schema asks for: number, true, false,
                 [list] or {object}
  key=a key=b    a list, if the schema asks for one
  key:=json      always JSON: count:=3, tags:='["a","b"]', name:='"@home"'
  key=@file      the content of a file; key:=@file reads JSON from a file
  'tool(…)'      like a function call: 'demo.greet(name: "Ada", loud: true)';
                 positional values come first, in the order of the signature
  --args JSON    all arguments as one JSON object
  -              read that JSON object from stdin

On a terminal, you can answer a question that the server asks.
Fairlead connects to this one server. The result goes to stdout, progress to stderr. Exit code 7: the tool
reported an error (its text is still printed). Exit code 130: Ctrl-C cancelled the call.

To use a server that is not in the settings, write its URL, or --stdio and its command, before the tool.

Examples:
  fairlead call demo.greet name=Ada
  fairlead call demo.greet name=Ada language=fr loud=true
  fairlead call demo.count to=3
  fairlead call demo.picture pattern=rings --save .
  fairlead call demo.statistics text=@README.md --json
  echo '{"name": "Ada"}' | fairlead call demo.greet -
  fairlead call --server demo --tool wait seconds=60 --timeout 2s
  fairlead call https://mcp.example.com/mcp search query=knots
  fairlead call --stdio 'npx -y @modelcontextprotocol/server-everything' echo message=hello`,

  define(command) {
    command
      .usage("<server.tool> [key=value …] [options]")
      .argument("[words...]", "the tool, then its arguments")
      .option("--server <name>", "with --tool: the server; for names with dots, which make server.tool ambiguous")
      .option("--tool <name>", "with --server: the tool")
      .option("--args <json>", "all arguments as one JSON object")
      .option("--yes", "confirm this call in advance; deny rules still apply")
      .option("--save <dir>", "write images, audio and other files of the result into this folder");
    defineTimeoutOption(command);
    defineImageOption(command);
    defineAdHocOptions(command);
    defineAloneOption(command);
  },

  nextForUnknownOption: (words, command) => callLine(toNamedArguments(words, command)),

  async run(context) {
    const { io, globals } = context;
    const options = context.command.opts<Options>();
    const { timeout } = timeoutOption(options);
    const words = [...context.operands, ...context.rest];
    const address = isAddress(words[0]) ? words[0] : undefined;
    const request = readRequest(address === undefined ? words : words.slice(1), {
      ...options,
      isTyped: isTyped(address, context),
    });
    if (options.name !== undefined && !isTyped(address, context))
      throw new HostError(
        "usage",
        "a tool's arguments are written as key=value; --name is for a URL or --stdio COMMAND",
        { next: callLine([...words, `name=${options.name}`]) },
      );
    const configured = await configurationOf(context);
    const adHoc = await openAdHoc(address, configured, context);
    const configuration = adHoc?.configuration ?? configured;
    const watch: Watch = {};
    const call = async (host: Host): Promise<void> => {
      const { isDenied, ...target } = await connectTarget(request.wanted, adHoc?.name, host, configuration, context);
      // Uses the definition that the server sent, because Fairlead adapts definitions for models.
      const tool = host.catalog(target.server)?.tools.find(({ name }) => name === target.tool);
      if (tool !== undefined && stateOf(target, host)?.status === "connected") await adHoc?.keep();
      const title = targetName(target);
      // Without a definition, the call fails, because it is denied or unknown.
      const args = tool ? await readArguments({ ...request, json: options.args }, tool.inputSchema, context) : {};
      const doubts = tool ? checkParameterNames(title, { serverToolName: tool.name, ...tool }, args) : [];
      for (const doubt of doubts) context.out.say(safe`note: ${toSafeLine(doubt)}`);
      const isYes = options.yes === true;
      const folder = options.save === undefined ? undefined : await openSaveFolder(options.save, io.cwd);
      const confirmation = await confirmTypedRequest({ title, isYes }, host, context);
      const progress = createProgressLine(toSafeLine(title), io, globals);
      watch.progress = progress;
      const started = performance.now();
      const state = stateOf(target, host);
      // If the server is not connected now, `connectTarget` could not connect it, so Fairlead does not try again.
      const result =
        state !== undefined && state.status !== "connected" && !isDenied
          ? Promise.reject(notConnectedError(state))
          : host.call(target.server, target.tool, args, {
              signal: io.signal,
              onProgress: progress.update,
              ...confirmation.beside(progress),
              timeout,
            });
      const outcome = await outcomeOfCall(confirmation.withAdvice(result), target).finally(progress.clear);
      const durationMs = Math.round(performance.now() - started);
      const named = isObject(args) ? outcome.error : notAnObject(outcome.error, target, args, tool);
      const error = adHoc === undefined ? named : forTyped(named);
      await reportCall({ ...outcome, durationMs, target, error, folder, draw: imageDrawing(context) }, context);
    };
    await useHost(configuration, context, call, {
      elicit: canAsk(context.io) ? elicitHere(watch, programPlace(configuration), context) : undefined,
      background: adHoc === undefined ? backgroundFor(configuration, context) : undefined,
    });
  },
};

function callLine(words: readonly string[]): string {
  return ["fairlead call", ...words.map((word) => (/^--?[\w-]+$/.test(word) ? word : toShellWord(word)))].join(" ");
}

/** The progress line. Absent until the call runs. It is hidden while the user answers a server's question. */
interface Watch {
  progress?: ProgressLine;
}

/** Creates the function that shows a server's question (elicitation) on the terminal and returns the user's answer. */
function elicitHere(watch: Watch, browserPlace: ProgramPlace, context: Context): Elicit {
  return async (request, signal) => {
    const { answerOnTerminal } = await import("../shell/elicitation.ts");
    const ask = (): Promise<ElicitationAnswer> => answerOnTerminal(request, signal, { ...context, browserPlace });
    return watch.progress === undefined ? ask() : watch.progress.hideDuring(ask);
  };
}

function stateOf({ server }: ToolTarget, host: Host): ServerState | undefined {
  return host.states().find(({ name }) => name === server);
}

/** Explains arguments that are not an object: adds the tool's name, the actual type and an example call. */
function notAnObject(
  error: HostError | undefined,
  target: ToolTarget,
  args: unknown,
  tool: CatalogTool | undefined,
): HostError | undefined {
  if (error?.code !== "arguments_invalid" || tool === undefined) return error;
  const kind = Array.isArray(args) ? "a list" : args === null ? "null" : `a ${typeof args}`;
  return new HostError("arguments_invalid", `${targetName(target)}: ${error.message}, not ${kind}`, {
    serverName: target.server,
    next: `fairlead call ${exampleCall({ ...target, serverToolName: tool.name, inputSchema: tool.inputSchema })}`,
    cause: error,
  });
}

/** Replaces the next step `fairlead tools NAME`. A server given as a URL or with `--stdio` is not in the settings. */
function forTyped(error: HostError | undefined): HostError | undefined {
  if (error?.code !== "tool_unknown") return error;
  return new HostError(error.code, error.message, { next: toolsOfTyped, cause: error });
}

/** The parts of the command line that can be parsed before a server is connected. */
interface CallRequest {
  /** `typed`: the user gave the server as a URL or with `--stdio`, so the first word is the tool. */
  readonly wanted:
    | ({ readonly kind: "pair" } & ToolTarget)
    | { readonly kind: "word"; readonly word: string }
    | { readonly kind: "typed"; readonly tool: string };
  readonly words: readonly string[];
  readonly written?: CallExpression;
}

function readRequest(
  words: readonly string[],
  { server, tool, isTyped }: Pick<Options, "server" | "tool"> & { readonly isTyped: boolean },
): CallRequest {
  if (server !== undefined && tool !== undefined && !isTyped) return { wanted: { kind: "pair", server, tool }, words };
  if (server !== undefined || tool !== undefined)
    throw new HostError(
      "usage",
      isTyped
        ? "--server and --tool work only with servers in the settings"
        : "--server and --tool must be given together",
    );
  const [first, ...others] = words;
  if (first === undefined)
    throw new HostError("usage", "the tool's name is missing", { next: isTyped ? toolsOfTyped : "fairlead tools" });
  const written = parseCallExpression(first);
  const word = written?.target ?? first;
  return { wanted: isTyped ? { kind: "typed", tool: word } : { kind: "word", word }, words: others, written };
}

/** The next step if a server that was given as a URL or with `--stdio` does not have the tool. */
const toolsOfTyped = 'to list its tools, replace "call" by "tools" and leave out the tool';

/** The tool of a call. `isDenied`: a rule denies it by name, so its server was not started. */
type FoundTarget = ToolTarget & { readonly isDenied: boolean };

/** Connects to the tool's server. Loads the server's cached catalog first, to detect a changed definition. */
async function connectTarget(
  wanted: CallRequest["wanted"],
  typed: string | undefined,
  host: Host,
  configuration: Configuration,
  context: Context,
): Promise<FoundTarget> {
  const names = host.states().map(({ name }) => name);

  /** Returns the tool if a rule denies it by name. Otherwise connects to its server. */
  async function deniedOrConnect(targets: readonly ToolTarget[]): Promise<FoundTarget | undefined> {
    const servers = targets.map(({ server }) => server);
    await host.recall(servers);
    const denied = await Promise.all(targets.map(({ server, tool }) => isDeniedByName(server, tool, "tool", host)));
    const [first] = targets;
    if (first !== undefined && !denied.includes(false)) return { ...first, isDenied: true };
    await connectServers(host, servers, context);
    return undefined;
  }

  if (wanted.kind !== "word") {
    const { server = "", tool } = wanted.kind === "pair" ? wanted : { server: typed, tool: wanted.tool };
    return (await deniedOrConnect([{ server, tool }])) ?? { server, tool, isDenied: false };
  }
  const { word } = wanted;
  // Server names may contain dots: `a.b.c` can mean the server `a` or the server `a.b`.
  const meant = names.flatMap((server) =>
    word.startsWith(`${server}.`) ? { server, tool: word.slice(server.length + 1) } : [],
  );
  const bare = meant.length === 0 ? await findBareName(word, host, configuration, context) : undefined;
  const denied = await deniedOrConnect(bare ? [bare] : meant);
  if (denied !== undefined) return denied;
  if (bare !== undefined) return { ...bare, isDenied: false };
  // Quarantined tools are listed too, because a person may still call them.
  const servers = names.map((name) => ({ name, tools: host.catalog(name)?.tools.map((tool) => tool.name) ?? [] }));
  return { ...findToolTarget(word, servers), isDenied: false };
}

/**
 * Finds a tool by its bare name or by `server__tool`. Uses the first server in the settings that has the tool, so
 * Fairlead first connects to servers without a cached catalog, except those that failed lately and those at which a rule
 * denies the tool. If no other server has it, returns the tool of such a server.
 */
async function findBareName(
  word: string,
  host: Host,
  configuration: Configuration,
  context: Context,
): Promise<ToolTarget | undefined> {
  const connect = async (names: readonly string[]): Promise<void> => {
    await host.recall(names);
    await connectServers(host, names, context);
  };
  if (word.includes(".") || /\s/.test(word)) {
    // Connects to the demo server, so that the error for an unknown tool can suggest the demo server's tools.
    await connect(hasDemo(configuration) ? [demoName] : []);
    return undefined;
  }
  const cachedNames = new Set((await host.recall()).map(({ server }) => server));
  const failed = new Set((await host.failedStarts()).map(({ server }) => server));
  const denied = await deniedOwners(word, host, true);
  const left = new Set([...cachedNames, ...failed, ...denied.map(({ server }) => server)]);
  await connect(host.states().flatMap(({ name }) => (left.has(name) ? [] : name)));
  const tool = host.toolRegistry.getTool(word);
  if (tool === undefined) return denied[0];
  refuseUnsureName(word, { server: tool.serverName, serverToolName: tool.serverToolName }, host);
  return { server: tool.serverName, tool: tool.serverToolName };
}
