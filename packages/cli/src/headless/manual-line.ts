/** Parses one line of `--model manual`: a call in the syntax of `fairlead call`. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import type { ModelCall } from "@fairlead/core/model";
import { toPlainArguments } from "@fairlead/core/normalise";
import { toShellWord } from "@fairlead/core/plain-text";
import { splitTypedLines, splitWords } from "@fairlead/core/request";
import { notConnectedError } from "@fairlead/core/server";
import type { ConversationTool } from "@fairlead/core/turn";
import { isObject } from "@fairlead/wire/json";
import { readArguments, readObject } from "../arguments/arguments.ts";
import { type CallExpression, parseCallExpression } from "../arguments/call-expression.ts";
import { type Context, nameHint } from "../shell/verb.ts";
import {
  deniedOwners,
  findToolTarget,
  refuseUnsureName,
  type TargetServer,
  type ToolTarget,
  targetName,
} from "../targets/target.ts";

/**
 * Parses one line as a call.
 * @throws HostError `usage`, `tool_unknown` or `arguments_invalid`
 */
export async function readManualLine(
  line: string,
  { host, tools }: { readonly host: Host; readonly tools: readonly ConversationTool[] },
  context: Pick<Context, "io" | "out">,
): Promise<ModelCall> {
  const { open } = splitTypedLines(line);
  if (open !== undefined && line.includes("\n"))
    throw new HostError("usage", `the quote ${open.quote} is not closed`, {
      next: `add ${open.quote} after the value`,
    });
  const { word, words, written } = takeApart(withoutCall(line));
  const named = tools.find(({ name }) => name === word);
  if (named !== undefined) refuseUnsureName(word, named, host);
  const [denied] = named === undefined ? await deniedOwners(word, host, false) : [];
  if (denied !== undefined) {
    // The turn refuses the call: it knows no tool of this name, and a rule denies it.
    const unchecked = await readArguments({ words, json: undefined, written }, undefined, context);
    return { name: targetName(denied), args: isObject(unchecked) ? toPlainArguments(unchecked, denied.server) : {} };
  }
  const target = named ?? toPair(findToolTarget(word, serversOf(tools, host)));
  const calledTool = tools.find(
    (tool) => tool.server === target.server && tool.serverToolName === target.serverToolName,
  );
  const { server, serverToolName } = target;
  if (calledTool === undefined) throw notConnected(server, host) ?? unknownTool(server, serverToolName, tools);
  const schema = host.catalog(server)?.tools.find(({ name }) => name === serverToolName)?.inputSchema;
  const args = await readArguments({ words, json: undefined, written }, schema, context);
  if (!isObject(args)) throw new HostError("arguments_invalid", "Invalid parameters: must be an object");
  return { name: calledTool.name, args: toPlainArguments(args, server) };
}

/**
 * Returns the servers that the turn must wait for: the servers of the calls in `text`, without those at which a rule
 * denies the call. If a call names no known server, returns undefined: the turn must wait for all servers.
 */
export async function serversOfCalls(
  text: string,
  { host, tools }: { readonly host: Host; readonly tools: readonly ConversationTool[] },
): Promise<readonly string[] | undefined> {
  const servers = host.states().map(({ name }) => name);
  const wanted = new Set<string>();
  for (const line of splitTypedLines(text).lines) {
    const word = wordOf(line);
    const server = tools.find(({ name }) => name === word)?.server;
    const denied = new Set(
      server === undefined ? (await deniedOwners(word, host, false)).map((each) => each.server) : [],
    );
    const named = server === undefined ? servers.filter((name) => word.startsWith(`${name}.`)) : [server];
    if (named.length === 0 && denied.size === 0) return undefined;
    for (const name of named.length > 0 ? named : await untried(host)) if (!denied.has(name)) wanted.add(name);
  }
  return [...wanted];
}

/** The servers that a turn starts for a name that no catalog has: all except those that failed in an earlier run. */
async function untried(host: Host): Promise<readonly string[]> {
  const failed = new Set((await host.failedStarts()).map(({ server }) => server));
  return host.states().flatMap(({ name }) => (failed.has(name) ? [] : name));
}

/** Returns the word of a line that names the tool. Returns "" if the line cannot be parsed. */
function wordOf(line: string): string {
  try {
    return takeApart(withoutCall(line)).word;
  } catch (error) {
    if (error instanceof HostError) return "";
    throw error;
  }
}

function withoutCall(line: string): string {
  return line.replace(/^(?:fairlead\s+)?call\s+/, "");
}

/**
 * Returns why a server has no tools in this conversation. Returns undefined if the server is connected or has
 * a cached catalog.
 */
function notConnected(server: string, host: Pick<Host, "states" | "catalog">): HostError | undefined {
  const state = host.states().find(({ name }) => name === server);
  if (state === undefined || state.status === "connected" || host.catalog(server) !== undefined) return undefined;
  return notConnectedError(state);
}

function unknownTool(server: string, tool: string, tools: readonly ConversationTool[]): HostError {
  const suggestion = nameHint(tool, toolsOf(server, tools));
  return new HostError("tool_unknown", `"${server}" has no tool "${tool}" in this conversation${suggestion}`, {
    serverName: server,
    next: `fairlead tools ${toShellWord(server)}`,
  });
}

interface ManualWords {
  readonly word: string;
  readonly words: readonly string[];
  readonly written?: CallExpression;
}

/** Splits a line into the tool and its arguments. A call expression, `server.tool(a: "two words")`, is not split. */
function takeApart(line: string): ManualWords {
  const written = /^[^\s=]+\(/.test(line) ? parseCallExpression(line) : undefined;
  if (written) return { word: written.target, words: [], written };
  const [, name, json] = /^(\S+)\s+(\{.*\})$/s.exec(line) ?? [];
  if (name !== undefined && json !== undefined && readObject(json) !== undefined) return { word: name, words: [json] };
  const [word = "", ...words] = splitWords(line).map(({ text }) => text);
  return { word, words };
}

function toPair({ server, tool }: ToolTarget): { readonly server: string; readonly serverToolName: string } {
  return { server, serverToolName: tool };
}

/** Returns the servers that have tools in the conversation, then the other servers of the host. */
export function serversOf(tools: readonly ConversationTool[], host?: Pick<Host, "states">): readonly TargetServer[] {
  const others = host?.states().map(({ name }) => name) ?? [];
  const names = [...new Set([...tools.map(({ server }) => server), ...others])];
  return names.map((name) => ({ name, tools: toolsOf(name, tools) }));
}

function toolsOf(name: string, tools: readonly ConversationTool[]): readonly string[] {
  return tools.flatMap(({ server, serverToolName }) => (server === name ? serverToolName : []));
}
