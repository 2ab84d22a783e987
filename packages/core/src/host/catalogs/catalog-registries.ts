/**
 * The registries of a host: one merged view of the catalogs of all servers. A catalog comes from its server or from the
 * catalog cache.
 */

import type { PromptResult } from "@fairlead/wire";
import { HostError } from "../../errors.ts";
import { type ToolFilter, unmatchedEntries } from "../../normalise/filter.ts";
import {
  type CompiledSchema,
  createSchemaCompiler,
  type SchemaCompiler,
  type SchemaDialect,
} from "../../normalise/schema/compile.ts";
import { isPlainSchema } from "../../normalise/schema/plain-schema.ts";
import type { Catalog } from "../../server/catalog.ts";
import { DiscoveredMCPPrompt } from "../../server/discovered-prompt.ts";
import type { FilteredCatalog } from "../../server/filtered-catalog.ts";
import type { ToolBinding } from "../../server/registered-tool.ts";
import { RegisteredTool } from "../../server/registered-tool.ts";
import { PromptRegistry, type QuarantinedTool, RegisteredTools, ResourceRegistry } from "../../server/registries.ts";
import type { HiddenTool, HostNote } from "../types.ts";

/** Settings of one server that its registered tools need. `timeout` is in milliseconds. */
export interface RegisteredServer {
  readonly name: string;
  readonly filter: ToolFilter;
  readonly trust: boolean;
  readonly timeout: number;
}

/** Runs a registered tool, or gets a registered prompt, through the host. */
export interface RequestBinding {
  readonly tools: ToolBinding;
  readonly getPrompt: (
    server: string,
    name: string,
    values: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ) => Promise<PromptResult>;
}

/** The registries of tools, prompts and resources. Also lists the hidden tools and notes for the user. */
export interface CatalogRegistries {
  readonly tools: RegisteredTools;
  readonly prompts: PromptRegistry;
  readonly resources: ResourceRegistry;
  /** Sets how tools and prompts run. Call this before `put`. */
  bind(binding: RequestBinding): void;
  /**
   * Sets the order of the servers. For servers in `alwaysQualified`, the names of tools and prompts always contain the
   * server's name.
   */
  setServerOrder(order: readonly string[], alwaysQualified: readonly string[]): void;
  /** Replaces the registered tools, prompts and resources of the server. */
  put(server: RegisteredServer, filtered: FilteredCatalog): void;
  remove(server: string): void;
  catalogOf(server: string): FilteredCatalog | undefined;
  hidden(): readonly HiddenTool[];
  quarantined(): readonly QuarantinedTool[];
  notes(): readonly HostNote[];
}

/** Creates empty registries. */
export function createCatalogRegistries(): CatalogRegistries {
  const tools = new RegisteredTools();
  const prompts = new PromptRegistry();
  const resources = new ResourceRegistry();
  let order: readonly string[] = [];
  let binding: RequestBinding | undefined;
  const compilers = new Map<SchemaDialect, SchemaCompiler>();
  const catalogs = new Map<string, FilteredCatalog>();
  const notes = new Map<string, readonly HostNote[]>();

  function compile(raw: unknown, dialect: SchemaDialect): CompiledSchema {
    const compiler = compilers.get(dialect) ?? createSchemaCompiler(dialect);
    compilers.set(dialect, compiler);
    return compiler.compile(raw);
  }

  /** The catalogs in the order of the settings, not in the order of registration. */
  function inOrder(): readonly (readonly [server: string, filtered: FilteredCatalog])[] {
    const others = [...catalogs.keys()].filter((server) => !order.includes(server));
    return [...order, ...others].flatMap((server) => {
      const filtered = catalogs.get(server);
      return filtered === undefined ? [] : [[server, filtered]];
    });
  }

  function* toTools(
    { name: serverName, trust, timeout }: RegisteredServer,
    catalog: Catalog,
  ): Iterable<RegisteredTool> {
    for (const {
      name: serverToolName,
      title,
      description = "",
      inputSchema,
      outputSchema,
      annotations,
    } of catalog.tools)
      yield new RegisteredTool({
        serverName,
        serverToolName,
        title,
        description,
        annotations,
        parameterSchemaJson: inputSchema,
        outputSchema,
        timeout,
        trust,
        binding: binding?.tools,
        compile,
        isPlain: isPlainSchema,
      });
  }

  function toPrompts({ name: serverName }: RegisteredServer, catalog: Catalog): readonly DiscoveredMCPPrompt[] {
    return catalog.prompts.map(
      ({ name: serverPromptName, title, description, arguments: wanted }) =>
        new DiscoveredMCPPrompt({
          serverName,
          serverPromptName,
          title,
          description,
          arguments: wanted,
          get: async (name, values, signal) => {
            if (binding === undefined)
              throw new HostError("internal", "this prompt cannot be used: it was created without a host");
            return binding.getPrompt(serverName, name, values, signal);
          },
        }),
    );
  }

  return {
    tools,
    prompts,
    resources,
    bind(given) {
      binding = given;
    },
    setServerOrder(next, alwaysQualified) {
      order = next;
      tools.setServerOrder(next, alwaysQualified);
      prompts.setServerOrder(next, alwaysQualified);
      resources.setServerOrder(next);
    },
    put(server, filtered) {
      const { name } = server;
      const { catalog } = filtered;
      catalogs.set(name, filtered);
      tools.replaceServer(name, () => toTools(server, catalog));
      prompts.replaceServer(name, toPrompts(server, catalog));
      resources.replaceServer(name, catalog);
      notes.set(name, notesOn(server, filtered));
    },
    remove(server) {
      catalogs.delete(server);
      notes.delete(server);
      tools.removeServer(server);
      prompts.removeServer(server);
      resources.removeServer(server);
    },
    catalogOf: (server) => catalogs.get(server),
    hidden: () =>
      inOrder().flatMap(([server, filtered]) =>
        [...filtered.hidden].map(([serverToolName, setting]) => ({ server, serverToolName, setting })),
      ),
    notes: () => inOrder().flatMap(([server]) => notes.get(server) ?? []),
    quarantined: () => [
      ...tools.quarantined(),
      ...inOrder().flatMap(([server, { catalog }]) =>
        catalog.dropped.flatMap(({ kind, name, reason }) =>
          kind === "tools" ? [{ server, serverToolName: name ?? "", reason }] : [],
        ),
      ),
    ],
  };
}

/** Notes for the user about cut lists, and about names in `includeTools` and `excludeTools` that match no tool. */
function notesOn(
  { name: server, filter }: RegisteredServer,
  { catalog, hidden }: FilteredCatalog,
): readonly HostNote[] {
  const hasFilter = filter.includeTools !== undefined || filter.excludeTools.length > 0;
  const all = hasFilter ? [...catalog.tools.map(({ name }) => name), ...hidden.keys()] : [];
  const idle = unmatchedEntries(all, filter).map(({ message }) => ({ server, message }));
  const cut = catalog.truncated.map(({ kind, reason }) => ({
    server,
    message: `the list of ${kind} is cut: ${reason}`,
  }));
  return [...idle, ...cut];
}
