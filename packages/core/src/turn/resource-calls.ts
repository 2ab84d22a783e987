/** Runs a model's calls of the functions that list and read resources. */

import type { JsonObject } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { displayOf } from "../normalise/content/display.ts";
import { type LeftOut, toModelParts } from "../normalise/content/parts.ts";
import type { FunctionDeclaration } from "../normalise/model-types.ts";
import type { ConfirmPort, ToolExecution } from "../registry/binding.ts";
import { describeResources, nearResources } from "../resources/describe-resources.ts";
import { contentsBlock } from "../resources/references/read-references.ts";
import { matchesTemplate } from "../resources/templates/uri-template.ts";
import type { TurnHost } from "./turn-host.ts";

export interface ResourceCall {
  readonly which: ResourceFunction;
  readonly args: JsonObject;
  /** The servers of the conversation, in the order of the settings. */
  readonly servers: readonly string[];
  readonly signal: AbortSignal;
  readonly ask: ConfirmPort;
  /** Called with the rule that allows the read, before the read is sent. */
  readonly onAllowed: (rule: string) => void;
  /** Called with the server, once it is found. */
  readonly onServer: (server: string) => void;
}

/** Lists the known resources, or reads one through the host, which applies policy. */
export async function callResources(call: ResourceCall, host: TurnHost): Promise<ToolExecution> {
  return call.which === "list" ? list(call, host) : read(call, host);
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
  const keep = async (file: LeftOut): Promise<string> => {
    const path = await host.keep(file);
    files.push(path);
    return path;
  };
  const llmContent = await toModelParts(blocks, { toolName: "read_resource", keep });
  return { llmContent, returnDisplay: displayOf(blocks), ...(files.length > 0 && { files }) };
}

function chosenServers({ server }: JsonObject, servers: readonly string[]): readonly string[] {
  if (server === undefined || server === "") return servers;
  if (typeof server === "string" && servers.includes(server)) return [server];
  const names = servers.map((name) => `"${name}"`).join(", ");
  throw new HostError("server_unknown", `there is no server ${JSON.stringify(server)}; the servers are ${names}`);
}

/**
 * Finds the server of a URI: one that lists it, else one with a matching template, else the only named server, which
 * may have unlisted resources.
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
      `several servers have that URI: ${fitting.join(", ")}; name one as "server"`,
    );
  const known = servers.flatMap((server) => resources.getResourcesByServer(server));
  const near = nearResources(uri, known).map((each) => each.uri);
  const meant = near.length === 0 ? "" : `; similar: ${near.join(", ")}`;
  throw new HostError("arguments_invalid", `no server has a resource with that URI${meant}`);
}

/** Declares the two functions by which a model lists and reads resources. Pure. */
export type ResourceFunction = "list" | "read";

/** Their names in a conversation. */
export type ResourceFunctionNames = Readonly<Record<ResourceFunction, string>>;

/** Chooses names that no tool has: a tool with the same name keeps it. */
export function chooseResourceNames(taken: readonly string[]): ResourceFunctionNames {
  const names = new Set(taken);
  const free = (name: string): string => (names.has(name) ? free(`fairlead_${name}`) : name);
  return { list: free("list_resources"), read: free("read_resource") };
}

const server = { type: "string", description: "The name of the MCP server. Without it, all servers are searched." };

export function declareResourceFunctions({ list, read }: ResourceFunctionNames): readonly FunctionDeclaration[] {
  return [
    {
      name: list,
      description:
        "Lists the resources that MCP servers offer to be read: files, records, pages, each with its URI. A URI with {braces} is a template: fill them in.",
      parametersJsonSchema: { type: "object", properties: { server } },
    },
    {
      name: read,
      description: `Reads a resource of an MCP server. ${list} tells which there are.`,
      parametersJsonSchema: {
        type: "object",
        properties: { uri: { type: "string", description: "The exact URI." }, server },
        required: ["uri"],
      },
    },
  ];
}
