/** Reads the tool and its argument words from the command line of `fairlead call`, and connects to the tool's server. */

import { HostError } from "@fairlead/core/errors";
import { demoName, type Host } from "@fairlead/core/host";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { type CallExpression, parseCallExpression } from "../arguments/call-expression.ts";
import type { Context } from "../shell/verb.ts";
import { connectServers } from "./connect-servers.ts";
import { findToolTarget, type ToolTarget } from "./target.ts";
import { hasDemo } from "./with-host.ts";

/** The command line as far as it can be parsed without a server. */
export interface CallRequest {
  /** `typed`: the server was typed as a URL or with `--stdio`, so only the tool is named. */
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
  /** Whether the server was typed; its URL is no longer among the words. */
  readonly isTyped: boolean;
}

export function readRequest(words: readonly string[], { server, tool, isTyped }: RequestOptions): CallRequest {
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
    throw new HostError("usage", "the tool is missing", { next: isTyped ? toolsOfTyped : "fairlead tools" });
  const written = parseCallExpression(first);
  const word = written?.target ?? first;
  return {
    wanted: isTyped ? { kind: "typed", tool: word } : { kind: "word", word },
    words: others,
    ...(written && { written }),
  };
}

/** The next step for a typed server, which other commands cannot find by name. */
export const toolsOfTyped = 'to list its tools, replace "call" by "tools" and leave out the tool';

interface Place {
  readonly host: Host;
  readonly configuration: Configuration;
  /** The name of the typed server. */
  readonly typed: string | undefined;
}

/** Connects to the tool's server. Loads its cached catalog first, so that a changed definition is detected. */
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
  // Candidates are servers whose name the word begins with: nearly always one.
  const meant = names.filter((name) => word.startsWith(`${name}.`));
  // Without a candidate, the demo server's tools allow a suggestion and cost nothing.
  await connect(meant.length === 0 && hasDemo(configuration) ? [demoName] : meant);
  // Includes quarantined tools: a person may still call them.
  const servers = names.map((name) => ({ name, tools: host.catalog(name)?.tools.map((tool) => tool.name) ?? [] }));
  return findToolTarget(word, servers);
}
