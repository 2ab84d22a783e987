/**
 * The registries of a host: one merged view of the catalogs of all servers. A catalog comes from its server or from the
 * catalog cache.
 */

import type { PromptResult } from "@fairlead/wire";
import { unmatchedEntries } from "../normalise/filter.ts";
import {
  type CompiledSchema,
  createSchemaCompiler,
  type SchemaCompiler,
  type SchemaDialect,
} from "../normalise/schema/compile.ts";
import { isPlainSchema } from "../normalise/schema/plain-schema.ts";
import type { Catalog } from "../server/catalog.ts";
import { DiscoveredMCPPrompt } from "../server/discovered-prompt.ts";
import type { FilteredCatalog } from "../server/filtered-catalog.ts";
import { RegisteredTool, type ToolBinding } from "../server/registered-tool.ts";
import { PromptRegistry, type QuarantinedTool, RegisteredTools, ResourceRegistry } from "../server/registries.ts";
import type { Server } from "../server/server.ts";
import { isAppOnly } from "../server/tool-view.ts";
import type { HiddenTool, HostNote } from "./types.ts";

/** How registered tools run, and how registered prompts are read, through the host. */
export interface RequestBinding {
  readonly tools: ToolBinding;
  readonly getPrompt: (
    server: string,
    name: string,
    values: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ) => Promise<PromptResult>;
}

/** The registries of tools, prompts and resources. */
export class HostRegistries {
  readonly tools: RegisteredTools = new RegisteredTools();
  readonly prompts: PromptRegistry = new PromptRegistry();
  readonly resources: ResourceRegistry = new ResourceRegistry();
  readonly #binding: RequestBinding;
  readonly #compilers = new Map<SchemaDialect, SchemaCompiler>();

  constructor(binding: RequestBinding) {
    this.#binding = binding;
  }

  /** Sets the order of the servers. The names of the demo server's tools and prompts always contain its name. */
  setOrder(servers: readonly Server[]): void {
    const order = servers.map(({ name }) => name);
    const qualified = servers.flatMap(({ isDemo, name }) => (isDemo ? [name] : []));
    this.tools.setServerOrder(order, qualified);
    this.prompts.setServerOrder(order, qualified);
    this.resources.setServerOrder(order);
  }

  /** Replaces the registered tools, prompts and resources of the server. */
  put(server: Server, { catalog }: FilteredCatalog): void {
    this.tools.replaceServer(server.name, () => this.#toTools(server, catalog));
    this.prompts.replaceServer(server.name, this.#toPrompts(server, catalog));
    this.resources.replaceServer(server.name, catalog);
  }

  remove(server: string): void {
    this.tools.removeServer(server);
    this.prompts.removeServer(server);
    this.resources.removeServer(server);
  }

  #compile(raw: unknown, dialect: SchemaDialect): CompiledSchema {
    const compiler = this.#compilers.get(dialect) ?? createSchemaCompiler(dialect);
    this.#compilers.set(dialect, compiler);
    return compiler.compile(raw);
  }

  *#toTools({ name: serverName, entryTrust, timeout }: Server, { tools }: Catalog): Iterable<RegisteredTool> {
    const trust = entryTrust?.counts === true;
    for (const tool of tools) {
      const { name, title, description = "", inputSchema, outputSchema, annotations } = tool;
      yield new RegisteredTool({
        serverName,
        serverToolName: name,
        title,
        description,
        annotations,
        parameterSchemaJson: inputSchema,
        outputSchema,
        timeout,
        trust,
        binding: this.#binding.tools,
        compile: (raw, dialect) => this.#compile(raw, dialect),
        isPlain: isPlainSchema,
        isAppOnly: isAppOnly(tool),
      });
    }
  }

  #toPrompts({ name: serverName }: Server, { prompts }: Catalog): readonly DiscoveredMCPPrompt[] {
    return prompts.map(
      ({ name: serverPromptName, title, description, arguments: wanted }) =>
        new DiscoveredMCPPrompt({
          serverName,
          serverPromptName,
          title,
          description,
          arguments: wanted,
          get: (name, values, signal) => this.#binding.getPrompt(serverName, name, values, signal),
        }),
    );
  }
}

/** The tools that the settings of these servers hide. */
export function hiddenTools(servers: readonly Server[]): readonly HiddenTool[] {
  return servers.flatMap(({ name: server, catalog }) =>
    [...(catalog?.hidden ?? [])].map(([serverToolName, setting]) => ({ server, serverToolName, setting })),
  );
}

/** The entries of the servers' lists of tools that are not tools. */
export function droppedTools(servers: readonly Server[]): readonly QuarantinedTool[] {
  return servers.flatMap(({ name: server, catalog }) =>
    (catalog?.catalog.dropped ?? []).flatMap(({ kind, name, reason }) =>
      kind === "tools" ? [{ server, serverToolName: name ?? "", reason }] : [],
    ),
  );
}

/** Notes for the user about cut lists, and about names in `includeTools` and `excludeTools` that match no tool. */
export function catalogNotes({ name: server, catalog: filtered, definition }: Server): readonly HostNote[] {
  if (filtered === undefined) return [];
  const { catalog, hidden } = filtered;
  const { includeTools, excludeTools = [] } = definition ?? {};
  const hasFilter = includeTools !== undefined || excludeTools.length > 0;
  const all = hasFilter ? [...catalog.tools.map(({ name }) => name), ...hidden.keys()] : [];
  const idle = unmatchedEntries(all, { includeTools, excludeTools }).map(({ message }) => ({ server, message }));
  const cut = catalog.truncated.map(({ kind, reason }) => ({
    server,
    message: `the list of ${kind} is cut: ${reason}`,
  }));
  return [...idle, ...cut];
}
