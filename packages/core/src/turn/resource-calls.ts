/** Runs the model's calls of `list_resources` and `read_resource`, which are Fairlead's own functions. */

import type { JsonObject } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { displayOf } from "../normalise/content/display.ts";
import { type KeptFile, type LeftOut, toModelParts } from "../normalise/content/parts.ts";
import type { ConfirmPort, LargeResults, ToolExecution } from "../registry/binding.ts";
import { describeResources, nearResources } from "../resources/describe-resources.ts";
import { contentsBlock } from "../resources/references/references.ts";
import { matchesTemplate } from "../text/uri-template.ts";
import type { TurnHost } from "./turn-host.ts";

/** A call of the model to list or read resources. */
export interface ResourceCall {
  readonly which: "list_resources" | "read_resource";
  readonly args: JsonObject;
  /** The servers of the conversation, in the order of the settings. */
  readonly servers: readonly string[];
  readonly results: (server: string) => LargeResults;
  readonly signal: AbortSignal;
  readonly ask: ConfirmPort;
  /** Called before Fairlead sends the request, with the rule that allows the read. */
  readonly onAllowed: (rule: string) => void;
  /** Called with the name of the server that has the resource. */
  readonly onServer: (server: string) => void;
}

/** Lists the resources in the servers' catalogs, or reads one resource. */
export async function callResources(call: ResourceCall, host: TurnHost): Promise<ToolExecution> {
  return call.which === "list_resources" ? list(call, host) : read(call, host);
}

function list({ args, servers }: ResourceCall, { resources }: TurnHost): ToolExecution {
  const wanted = chosenServers(args, servers);
  const llmContent = describeResources({ servers: wanted, resources });
  const count = wanted.reduce(
    (sum, server) =>
      sum + resources.getResourcesByServer(server).length + resources.getTemplatesByServer(server).length,
    0,
  );
  const none = [{ text: "[There are no resources.]" }];
  const returnDisplay = `${count} ${count === 1 ? "resource" : "resources"}`;
  return { llmContent: llmContent.length === 0 ? none : llmContent, returnDisplay };
}

async function read(call: ResourceCall, host: TurnHost): Promise<ToolExecution> {
  const { uri } = call.args;
  if (typeof uri !== "string" || uri === "") throw new HostError("arguments_invalid", "uri must be a string");
  const server = whose(uri, chosenServers(call.args, call.servers), host);
  call.onServer(server);
  const { contents } = await host.readResource(server, uri, {
    signal: call.signal,
    ask: call.ask,
    onAllowed: call.onAllowed,
  });
  const blocks = contents.map((each) => contentsBlock(each, contents.length === 1));
  const files: string[] = [];
  const results = call.results(server);
  const keep = async (file: LeftOut): Promise<KeptFile> => {
    const kept = await results.keep(file);
    files.push(kept.path);
    return kept;
  };
  const limits = { tokens: results.tokens };
  const llmContent = await toModelParts(blocks, { toolName: "read_resource", limits, keep });
  return { llmContent, returnDisplay: displayOf(blocks), files: files.length > 0 ? files : undefined };
}

function chosenServers({ server }: JsonObject, servers: readonly string[]): readonly string[] {
  if (server === undefined || server === "") return servers;
  if (typeof server === "string" && servers.includes(server)) return [server];
  const names = servers.map((name) => `"${name}"`).join(", ");
  throw new HostError("server_unknown", `there is no server ${JSON.stringify(server)}; the servers are ${names}`);
}

/**
 * Returns the server that lists the URI, or else the one with a matching template. A single server is returned even
 * without a match. Throws if no server matches, or several do.
 */
function whose(uri: string, servers: readonly string[], { resources }: TurnHost): string {
  const listed = servers.filter((server) => resources.getResourcesByServer(server).some((each) => each.uri === uri));
  const fitting =
    listed.length > 0
      ? listed
      : servers.filter((server) =>
          resources.getTemplatesByServer(server).some(({ uriTemplate }) => matchesTemplate(uri, uriTemplate)),
        );
  const [only, ...others] = fitting.length === 0 && servers.length === 1 ? servers : fitting;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined)
    throw new HostError(
      "arguments_invalid",
      `several servers have that URI: ${fitting.join(", ")}; give one of them as "server"`,
    );
  const allResources = servers.flatMap((server) => resources.getResourcesByServer(server));
  const near = nearResources(uri, allResources).map((each) => each.uri);
  const meant = near.length === 0 ? "" : `; similar: ${near.join(", ")}`;
  throw new HostError("arguments_invalid", `no server has a resource with that URI${meant}`);
}
