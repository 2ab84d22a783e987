/** `/form`: calls a tool. The user enters the arguments in a form, which is made from the tool's input schema. */

import { HostError } from "@fairlead/core/errors";
import { toPlainArguments } from "@fairlead/core/normalise";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { readArguments } from "../../arguments/arguments.ts";
import { serversOf } from "../../headless/manual-line.ts";
import { findToolTarget, type ToolTarget, targetName } from "../../targets/target.ts";
import { captured } from "../captured.ts";
import { offerTools } from "../input/call-words.ts";
import type { Services } from "../services.ts";
import { type SlashCommand, wordsOf } from "./command.ts";

/** The command `/form SERVER.TOOL`. Arguments that the user types after the tool are already filled in. */
export const form: SlashCommand = {
  name: "form",
  summary: "call a tool by filling in a form",
  usage: "SERVER.TOOL [key=value …]",
  complete: ([target], { session }) => (target === undefined ? offerTools(session.conversation.tools()) : []),
  async run(line, services) {
    const { session, context } = services;
    const { host } = session;
    const [word = "", ...words] = wordsOf(line);
    const { server, tool } = toolNamed(word, services);
    const definition = host.catalog(server)?.tools.find(({ name }) => name === tool);
    if (definition === undefined)
      throw new HostError("tool_unknown", `"${server}" has no tool "${tool}"`, { next: "/tools" });
    const { inputSchema: schema, description = "" } = definition;
    const given = await readArguments({ words, json: undefined }, schema, captured(context).context);
    const values = isObject(given) ? toPlainArguments(given, server) : {};
    const asked = {
      kind: "form",
      serverName: server,
      toolName: tool,
      message: description,
      schema,
      purpose: "arguments",
      values,
    } as const;
    const answer = await session.ask("form", asked);
    if (answer.action !== "accept") return session.note("info", `${word} was not called.`);
    session.sendCall(writeCall({ server, tool }, { ...values, ...answer.content }));
  },
};

function toolNamed(word: string, { session }: Services): ReturnType<typeof findToolTarget> {
  const tools = session.conversation.tools();
  const byName = tools.find(({ name }) => name === word);
  if (byName !== undefined) return { server: byName.server, tool: byName.serverToolName };
  return findToolTarget(word, serversOf(tools));
}

/** Matches values that need no quotes in `name=value`. Other values are written as `name:=JSON`. */
const plain = /^[\p{L}\p{M}\p{N}_./:+-]+$/u;

/**
 * Returns a call as the user would type it, such as `files.read path=a.txt`.
 * @throws HostError `usage` if an argument's name cannot be typed
 */
export function writeCall(target: ToolTarget, args: JsonObject): string {
  const words = Object.entries(args).map(([name, value]) => writeArgument(name, value));
  return [quoted(targetName(target)), ...words].join(" ");
}

function writeArgument(name: string, value: unknown): string {
  if (name === "" || name.includes("=") || name.endsWith(":"))
    throw new HostError("usage", `the argument name "${name}" cannot be written as name=value`);
  const isPlain = typeof value === "string" && plain.test(value);
  return quoted(isPlain ? `${name}=${value}` : `${name}:=${JSON.stringify(value)}`);
}

function quoted(word: string): string {
  return /^[\p{L}\p{M}\p{N}_./:=+-]+$/u.test(word) ? word : `'${word.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
