/**
 * Writes the TypeScript module of `fairlead generate ts`: a client for each server, with a typed method for each tool.
 */

import { argumentSchema } from "@fairlead/core/normalise";
import type { CatalogTool } from "@fairlead/core/server";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import { createNames, generatedBy, toDocComment, toMethodName, toStringLiteral, toTypeName } from "./source-text.ts";
import { createTypeDeclarations, type TypeDeclarations } from "./type-declarations.ts";

/** A server, and its tools that can be called. */
export interface ServerTools {
  readonly name: string;
  readonly tools: readonly CatalogTool[];
}

/** Names that the generated module itself uses. */
const reserved = ["CallOptions", "CallResult", "Host", "HostError", "Promise", "Pick", "Parameters", "Typed"];
const longestDescription = 4_000;

/** Writes the module. Tools are sorted by name, so that the same catalogs always give the same text. */
export function typescriptModule(servers: readonly ServerTools[]): string {
  const types = createTypeDeclarations(reserved);
  const clients = servers.map((server) => ({ ...server, typeName: types.claim(toTypeName(server.name)) }));
  const names = servers.map(({ name }) => name);
  /*
   * Type names start with the server's name if there are several servers, because their tools often have the same
   * names.
   */
  const written = clients.map((client) => clientText(client, servers.length > 1 ? client.typeName : "", types));
  const isTyped = servers.some(({ tools }) => tools.some(({ outputSchema }) => outputSchema !== undefined));
  const text = [
    generatedBy("ts", names),
    'import { type CallOptions, type CallResult, type Host, HostError } from "@fairlead/core";',
    ...written,
    ...types.declarations,
    callFunction,
    ...(isTyped ? [typedCallFunction] : []),
  ].join("\n\n");
  return `${text.replaceAll(/ +$/gm, "")}\n`;
}

/**
 * The function `call`, which every module contains. If the tool reports an error, `call` throws, so that every returned
 * result is a success.
 */
const callFunction = `async function call(
  host: Pick<Host, "call">,
  server: string,
  tool: string,
  args: unknown = {},
  options?: CallOptions,
): Promise<CallResult> {
  const result = await host.call(server, tool, args, options);
  if (!result.isError) return result;
  const text = result.content.map((block) => (block.type === "text" ? block.text : \`[\${block.type}]\`)).join("\\n");
  throw new HostError("tool_error", \`\${server}.\${tool} reported an error: \${text}\`, { serverName: server });
}`;

/** A function and a type that a module contains if tools have output schemas. */
const typedCallFunction = `/** A result whose structured content has the type of the tool's output schema. */
export type Typed<T> = CallResult & { readonly structuredContent: T };

async function callTyped<T>(...[host, server, tool, args, options]: Parameters<typeof call>): Promise<Typed<T>> {
  const result = await call(host, server, tool, args, options);
  if (result.structuredContent !== undefined) return result as Typed<T>;
  throw new HostError("protocol", \`\${server}.\${tool} returned no structured content\`, { serverName: server });
}`;

interface Client extends ServerTools {
  readonly typeName: string;
}

function clientText({ name: server, typeName, tools }: Client, prefix: string, types: TypeDeclarations): string {
  const methodNames = createNames();
  const methods = tools
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((tool) => ({
      tool,
      method: methodNames(toMethodName(tool.name)),
      // The type names of all tools are reserved first, so that no schema definition can take such a name.
      argumentsName: types.claim(toTypeName(prefix, tool.name, "Arguments")),
      resultName: tool.outputSchema && types.claim(toTypeName(prefix, tool.name, "Result")),
    }));
  const signatures = methods.map(({ tool, method, argumentsName, resultName }) => {
    const args = types.write({ type: "object", ...argumentSchema(tool.inputSchema) }, argumentsName);
    const result = resultName && types.write(tool.outputSchema, resultName).text;
    const parameters = `args${args.takesEmpty ? "?" : ""}: ${args.text}, options?: CallOptions`;
    const returned = result === undefined ? "CallResult" : `Typed<${result}>`;
    return [...describe(tool), `${method}(${parameters}): Promise<${returned}>;`].map((line) => `  ${line}`);
  });
  const bodies = methods.map(({ tool, method, resultName }) => {
    const send = resultName === undefined ? "call" : "callTyped";
    const sent = `${toStringLiteral(server)}, ${toStringLiteral(tool.name)}, args, options`;
    return `    ${method}: (args, options) => ${send}(host, ${sent}),`;
  });
  const title = toVisibleLine(server);
  return [
    ...toDocComment(
      `The tools of "${title}". A method rejects with a HostError if the call fails or the tool reports an error.`,
    ),
    `export interface ${typeName} {`,
    ...signatures.flat(),
    "}",
    "",
    ...toDocComment(`Calls the tools of "${title}" through a host, which decides whether each call may run.`),
    `export function create${typeName}(host: Pick<Host, "call">): ${typeName} {`,
    "  return {",
    ...bodies,
    "  };",
    "}",
  ].join("\n");
}

function describe({ title = "", description = "", annotations }: CatalogTool): readonly string[] {
  const hints = ["readOnlyHint", "destructiveHint"].filter((hint) => annotations?.[hint] === true);
  const words = description.trim() === "" ? title : description;
  return toDocComment(clip(words, longestDescription), hints.length === 0 ? "" : `claimed: ${hints.join(", ")}`);
}
