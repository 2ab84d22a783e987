/** `fairlead prompts` lists prompts; `fairlead prompt` gets one with its arguments filled in. */

import { HostError } from "@fairlead/core/errors";
import type { Host, HostPrompt } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/plain-text";
import { bindArguments, findPrompt, serversNamedBy, unknownPrompt } from "@fairlead/core/request";
import type { DiscoveredMCPPrompt } from "@fairlead/core/server";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { defineTimeoutOption, timeoutOption } from "../arguments/duration.ts";
import { defineArgOption, type NamedValue, splitNamed } from "../arguments/named-values.ts";
import { defineImageOption, imageDrawing } from "../output/reports/inline-image.ts";
import { createProgressLine } from "../output/reports/progress.ts";
import { reportPrompt } from "../output/reports/result-reports.ts";
import { examplePrompt, isDeprecated, promptCommandUsage, promptsText, textByServer } from "../output/tools/lists.ts";
import { columnsOf } from "../output/wrap.ts";
import { configurationOf } from "../shell/configuration.ts";
import { openSaveFolder } from "../shell/save-media.ts";
import { confirmTypedRequest } from "../shell/typed-confirmation.ts";
import { type Context, nameHint, type Verb } from "../shell/verb.ts";
import { defineAdHocOptions, isAddress, openAdHoc } from "../targets/ad-hoc.ts";
import { backgroundFor, defineAloneOption } from "../targets/background.ts";
import { connectServer, lookUp, namesOf } from "../targets/look-up.ts";
import { isDeniedByName, type ToolTarget } from "../targets/target.ts";
import { defineListOptions, listHelp, warnOfTruncatedLists, withCatalogs } from "../targets/with-catalogs.ts";
import { useHost } from "../targets/with-host.ts";

interface Options {
  readonly server?: string;
  readonly arg?: readonly NamedValue[];
  readonly save?: string;
  readonly yes?: boolean;
  readonly timeout?: string;
}

const prompt: Verb = {
  help: `
Prints the messages of the prompt, each under its role. Nothing is sent to a model.

  name=value         an argument; --arg name=value is the same
  value              the value of the next required argument that has no name=value;
                     if there is only one such argument, all words are its value

Connects to the prompt's server, and to servers without a cached catalog only if
one of them could have the prompt.

Examples:
  fairlead prompt teach bowline
  fairlead prompt demo.teach knot=bowline audience=sailor
  fairlead prompt /teach --arg knot=reef-knot --json`,

  define(command) {
    command
      .argument("<prompt>", "NAME, SERVER.NAME, SERVER NAME, /NAME or /SERVER.NAME")
      .argument("[values...]", "arguments: name=value, or only the value")
      .option("--server <server>", "the server's name or URL")
      .option("--save <dir>", "write images, audio and other files of the prompt's messages into this folder")
      .option("--yes", "confirm this prompt in advance; deny rules still apply");
    defineArgOption(command, "an argument (repeatable)");
    defineTimeoutOption(command);
    defineImageOption(command);
    defineAdHocOptions(command);
    defineAloneOption(command);
  },

  async run(context) {
    const { server, save, yes: isYes = false } = context.command.opts<Options>();
    const timeout = timeoutOption(context.command.opts<Options>());
    const { io, globals } = context;
    const [word = "", ...words] = context.operands;
    const configured = await configurationOf(context);
    const typed = await openAdHoc(isAddress(server) ? server : undefined, configured, context);
    const background = typed === undefined ? backgroundFor(configured, context) : undefined;
    const use = async (host: Host): Promise<void> => {
      const named = { name: word.replace(/^\//, ""), server: typed?.name ?? server, values: words };
      const { name, server: owner, values } = withServerApart(named, host);
      const prompt = await find(name, owner, host, context);
      await typed?.keep();
      const args = bind(prompt, values, context);
      const folder = save === undefined ? undefined : await openSaveFolder(save, io.cwd);
      const { serverName, serverPromptName } = prompt;
      const title = `${serverName}.${serverPromptName}`;
      const { beside, withAdvice } = await confirmTypedRequest({ title, isYes }, host, context);
      const progress = createProgressLine(safe`${toSafeLine(serverPromptName)}`, io, globals);
      const getting = host.getPrompt(serverName, serverPromptName, args, {
        signal: io.signal,
        ...timeout,
        ...beside(progress),
      });
      const result = await withAdvice(getting).finally(progress.clear);
      const report = { server: serverName, prompt: serverPromptName, result, folder, draw: imageDrawing(context) };
      await reportPrompt(report, context);
    };
    await useHost(typed?.configuration ?? configured, context, use, { background });
  },
};

interface NamedPrompt {
  readonly name: string;
  readonly server: string | undefined;
  readonly values: readonly string[];
}

/** Reads `SERVER NAME` as `SERVER.NAME`, unless a prompt has the server's name. */
function withServerApart(typed: NamedPrompt, host: Host): NamedPrompt {
  const [first, ...values] = typed.values;
  const isServer = typed.server === undefined && namesOf(host).includes(typed.name);
  if (first === undefined || !isServer || findPrompt(typed.name, host.promptRegistry) !== undefined) return typed;
  return { name: first, server: typed.name, values };
}

/** Connects to the prompt's server, and returns the prompt as this server lists it now. */
async function find(
  name: string,
  server: string | undefined,
  host: Host,
  context: Context,
): Promise<DiscoveredMCPPrompt> {
  const prompts = host.promptRegistry;
  if (server !== undefined) {
    await refuseDenied(server, name, host);
    await connectServer(server, host, context);
    const getAllPrompts = (): readonly DiscoveredMCPPrompt[] => prompts.getPromptsByServer(server);
    const getPrompt = (wanted: string): DiscoveredMCPPrompt | undefined => prompts.find(server, wanted);
    const found = findPrompt(name, { getPrompt, getAllPrompts });
    if (found !== undefined) return found;
    const hint = nameHint(
      name,
      getAllPrompts().map(({ serverPromptName }) => serverPromptName),
    );
    throw new HostError("usage", `"${server}" has no prompt "${name}"${hint}`, {
      serverName: server,
      next: `fairlead prompts ${toShellWord(server)}`,
    });
  }
  const named = serversNamedBy(name, namesOf(host));
  for (const owner of named) await refuseDenied(owner, name.slice(owner.length + 1), host);
  const look = (): DiscoveredMCPPrompt | HostError => findPrompt(name, prompts) ?? unknownPrompt(name, prompts);
  const byName = {
    serverOf: (found: DiscoveredMCPPrompt): string => found.serverName,
    commandFor: (owner: string): string => `fairlead prompt ${toShellWord(`${owner}.${name}`)}`,
  };
  const isBare = named.length === 0;
  const refuse = (denied: ToolTarget): Promise<unknown> => host.getPrompt(denied.server, denied.tool, {});
  const bare = isBare ? ({ kind: "prompt", name, refuse } as const) : undefined;
  const { serverName, serverPromptName } = await lookUp(
    { named, isOpen: isBare, find: look, byName, bare },
    host,
    context,
  );
  await refuseDenied(serverName, serverPromptName, host);
  await connectServer(serverName, host, context);
  return existing(name, prompts);
}

/** @throws HostError `denied` if a rule denies the prompt by name */
async function refuseDenied(server: string, name: string, host: Host): Promise<void> {
  if (await isDeniedByName(server, name, "prompt", host)) await host.getPrompt(server, name, {});
}

function existing(name: string, prompts: Parameters<typeof findPrompt>[1]): DiscoveredMCPPrompt {
  const prompt = findPrompt(name, prompts);
  if (prompt === undefined) throw unknownPrompt(name, prompts);
  return prompt;
}

function bind(
  prompt: DiscoveredMCPPrompt,
  words: readonly string[],
  { command }: Context,
): ReturnType<typeof bindArguments> {
  const { arg: given = [] } = command.opts<Options>();
  const named: NamedValue[] = [...given];
  const positional: string[] = [];
  for (const word of words) {
    const pair = splitNamed(word);
    if (pair && isMeant(pair, prompt)) named.push(pair);
    else positional.push(word);
  }
  try {
    return bindArguments(prompt, { named, positional });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    // Replaces the error's next step, which names a slash command, by the shell command.
    const { code, message, serverName } = error;
    const next = `fairlead prompt ${promptCommandUsage(prompt)}`;
    throw new HostError(code, message, { next, cause: error, serverName });
  }
}

/** Whether `name=value` sets an argument. A plain value, such as a URL, can contain "=" too. */
function isMeant([name]: NamedValue, prompt: DiscoveredMCPPrompt): boolean {
  return /^[A-Za-z_][\w.-]*$/.test(name) || prompt.arguments.some((argument) => argument.name === name);
}

// `fairlead prompts`: lists the prompts offered by servers.

const prompts: Verb = {
  help: `${listHelp("prompts")}
  /name(a, b?)   required arguments, then optional arguments

Examples:
  fairlead prompts
  fairlead prompts demo
  fairlead prompts demo --json
  fairlead prompts --stdio 'npx -y @modelcontextprotocol/server-everything'`,

  define(command) {
    defineListOptions(command, "prompts");
    defineAdHocOptions(command);
  },

  async run(context) {
    await withCatalogs(context, ({ host, server, isTyped }) => {
      const prompts = host.prompts(server);
      warnOfTruncatedLists(host, server, ["prompts"], context);
      if (context.globals.json) context.out.json({ prompts });
      else print(prompts, context);
      if (!isTyped && !context.globals.json) leadOn(prompts, context);
    });
  },
};

function print(prompts: readonly HostPrompt[], { io, out }: Context): void {
  const options = { style: out.style, columns: columnsOf(io.stdout) };
  const text = textByServer(prompts, (server, own) => promptsText(server, own, options));
  if (text !== undefined) out.print(text);
  else out.say(safe`No prompts to show. To see some: fairlead prompts demo`);
}

/** Prints which command the user can try next. */
function leadOn(prompts: readonly HostPrompt[], { out }: Context): void {
  const example = prompts.find((prompt) => !isDeprecated(prompt));
  if (example !== undefined) out.say(safe`\nTry: fairlead prompt ${toSafeLine(examplePrompt(example))}`);
}

export const verbs: Readonly<Record<"prompt" | "prompts", Verb>> = { prompt, prompts };
