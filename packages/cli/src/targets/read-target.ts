/** Which tool a command line means, and the words that are left for its arguments; connects only to servers that can be meant. */

import { HostError } from "@fairlead/core/errors";
import { demoName, type Host } from "@fairlead/core/host";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { type CallExpression, parseCallExpression } from "../arguments/call-expression.ts";
import type { Context } from "../shell/verb.ts";
import { connectServers } from "./connect-servers.ts";
import { findToolTarget, type ToolTarget } from "./target.ts";
import { hasDemo } from "./with-host.ts";

/** A command line taken apart as far as that needs no server. */
export interface CallRequest {
  /** `typed`: the server was typed, and only the tool is named. */
  readonly wanted:
    | ({ readonly kind: "pair" } & ToolTarget)
    | { readonly kind: "word"; readonly word: string }
    | { readonly kind: "typed"; readonly tool: string };
  readonly words: readonly string[];
  readonly written?: CallExpression;
}

interface RequestOptions {
  readonly server?: string;
  readonly tool?: string;
  /** Its address, if it was that, is not among the words any more. */
  readonly isTyped: boolean;
}

export function readRequest(words: readonly string[], { server, tool, isTyped }: RequestOptions): CallRequest {
  if (server !== undefined && tool !== undefined && !isTyped) return { wanted: { kind: "pair", server, tool }, words };
  if (server !== undefined || tool !== undefined)
    throw new HostError(
      "usage",
      isTyped ? "--server and --tool are for servers in the settings" : "--server and --tool go together",
    );
  const [first, ...others] = words;
  if (first === undefined)
    throw new HostError("usage", "which tool?", { next: isTyped ? toolsOfTyped : "fairlead tools" });
  const written = parseCallExpression(first);
  const word = written?.target ?? first;
  return {
    wanted: isTyped ? { kind: "typed", tool: word } : { kind: "word", word },
    words: others,
    ...(written && { written }),
  };
}

/** A server that was typed cannot be asked for by its name. */
export const toolsOfTyped = 'To see its tools, type "tools" in place of "call" and leave the tool out.';

interface Place {
  readonly host: Host;
  readonly configuration: Configuration;
  /** What the server that was typed is called. */
  readonly typed: string | undefined;
}

/** Connects to the server that is meant. What was known of it is recalled first: then a changed definition is noticed. */
export async function connectTarget(
  wanted: CallRequest["wanted"],
  { host, configuration, typed }: Place,
  context: Context,
): Promise<ToolTarget> {
  async function connect(names: readonly string[]): Promise<void> {
    await host.recall(names);
    await connectServers(host, names, context);
  }

  if (wanted.kind !== "word") {
    const { server = "", tool } = wanted.kind === "pair" ? wanted : { server: typed, tool: wanted.tool };
    await connect([server]);
    return { server, tool };
  }
  const { word } = wanted;
  const names = host.states().map(({ name }) => name);
  // Only servers whose name the word begins with can be meant: nearly always one.
  const meant = names.filter((name) => word.startsWith(`${name}.`));
  // Where none can, what the demo server has may still be what was meant, and costs nothing.
  await connect(meant.length === 0 && hasDemo(configuration) ? [demoName] : meant);
  // Also those that no model is offered: a person may still call them.
  const servers = names.map((name) => ({ name, tools: host.catalog(name)?.tools.map((tool) => tool.name) ?? [] }));
  return findToolTarget(word, servers);
}
