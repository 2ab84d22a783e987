/** Parses one line of `--model manual`: a call in the syntax of `fairlead call`. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import type { ModelCall } from "@fairlead/core/model/model";
import { toPlainArguments } from "@fairlead/core/registry/plain-arguments";
import { splitWords } from "@fairlead/core/resources/prompt-arguments";
import { splitTypedLines } from "@fairlead/core/resources/typed-lines";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { ConversationTool } from "@fairlead/core/turn/conversation";
import { isObject } from "@fairlead/wire/json";
import { readArguments } from "../arguments/arguments.ts";
import { type CallExpression, parseCallExpression } from "../arguments/call-expression.ts";
import { nameHint } from "../shell/name-hint.ts";
import type { Context } from "../shell/verb.ts";
import { findToolTarget, type KnownServer, type ToolTarget } from "../targets/target.ts";

/** @throws HostError `usage`, `tool_unknown` or `arguments_invalid` */
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
  const { word, words, written } = takeApart(line.replace(/^(?:fairlead\s+)?call\s+/, ""));
  const target = tools.find(({ name }) => name === word) ?? toPair(findToolTarget(word, serversOf(tools)));
  const known = tools.find((tool) => tool.server === target.server && tool.serverToolName === target.serverToolName);
  const { server, serverToolName } = target;
  if (known === undefined) throw unknownTool(server, serverToolName, tools);
  const schema = host.catalog(server)?.tools.find(({ name }) => name === serverToolName)?.inputSchema;
  const args = await readArguments({ words, json: undefined, ...(written && { written }) }, schema, context);
  if (!isObject(args)) throw new HostError("arguments_invalid", "Invalid parameters: must be an object");
  return { name: known.name, args: toPlainArguments(args, server) };
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

/** A call expression, `server.tool(a: 1, b: "two words")`, may contain spaces. */
function takeApart(line: string): ManualWords {
  const written = /^[^\s=]+\(/.test(line) ? parseCallExpression(line) : undefined;
  if (written) return { word: written.target, words: [], written };
  const [word = "", ...words] = splitWords(line).map(({ text }) => text);
  return { word, words };
}

function toPair({ server, tool }: ToolTarget): { readonly server: string; readonly serverToolName: string } {
  return { server, serverToolName: tool };
}

export function serversOf(tools: readonly ConversationTool[]): readonly KnownServer[] {
  const names = [...new Set(tools.map(({ server }) => server))];
  return names.map((name) => ({ name, tools: toolsOf(name, tools) }));
}

function toolsOf(name: string, tools: readonly ConversationTool[]): readonly string[] {
  return tools.flatMap(({ server, serverToolName }) => (server === name ? serverToolName : []));
}
