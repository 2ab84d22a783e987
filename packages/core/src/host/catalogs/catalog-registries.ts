/** The merged view of all catalogs of a host, read from servers or from the catalog cache: registries of tools, prompts and resources. */

import type { PromptResult } from "@fairlead/wire";
import type { Catalog } from "../../discover/catalog.ts";
import { HostError } from "../../errors.ts";
import type { Offering } from "../../mcp/offering.ts";
import { type ToolFilter, unmatchedEntries } from "../../normalise/filter.ts";
import type { SchemaDialect } from "../../normalise/schema/compiled-schema.ts";
import { createSchemaCompiler, type SchemaCompiler } from "../../normalise/schema/compiler.ts";
import type { ToolBinding } from "../../registry/binding.ts";
import { DiscoveredMCPPrompt } from "../../registry/discovered-prompt.ts";
import { DiscoveredMCPTool } from "../../registry/discovered-tool.ts";
import { PromptRegistry } from "../../registry/prompt-registry.ts";
import { ResourceRegistry } from "../../registry/resource-registry.ts";
import { type QuarantinedTool, ToolRegistry } from "../../registry/tool-registry.ts";
import type { HiddenTool, HostNote } from "../types.ts";

export interface RegisteredServer {
  readonly name: string;
  readonly filter: ToolFilter;
  readonly trust: boolean;
  readonly timeout: number;
}

/** What tools and prompts of the registries run through. */
export interface RequestBinding {
  readonly tools: ToolBinding;
  readonly getPrompt: (
    server: string,
    name: string,
    values: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ) => Promise<PromptResult>;
}

export interface CatalogRegistries {
  readonly tools: ToolRegistry;
  readonly prompts: PromptRegistry;
  readonly resources: ResourceRegistry;
  /** Tools and prompts that are registered from now on run through this. */
  bind(binding: RequestBinding): void;
  /** Names in the order of the settings, and servers that never take a bare name. */
  setServerOrder(order: readonly string[], alwaysQualified: readonly string[]): void;
  /** Replaces everything that is registered of that server. */
  put(server: RegisteredServer, offering: Offering): void;
  remove(server: string): void;
  offering(server: string): Offering | undefined;
  hidden(): readonly HiddenTool[];
  quarantined(): readonly QuarantinedTool[];
  notes(): readonly HostNote[];
}

export function createCatalogRegistries(): CatalogRegistries {
  const tools = new ToolRegistry();
  const prompts = new PromptRegistry();
  const resources = new ResourceRegistry();
  let order: readonly string[] = [];
  let binding: RequestBinding | undefined;
  const compilers = new Map<SchemaDialect, SchemaCompiler>();
  const offerings = new Map<string, Offering>();
  const notes = new Map<string, readonly HostNote[]>();

  function compilerFor(dialect: SchemaDialect): SchemaCompiler {
    const compiler = compilers.get(dialect) ?? createSchemaCompiler(dialect);
    compilers.set(dialect, compiler);
    return compiler;
  }

  /** In the order of the settings, whatever order they were registered in. */
  function inOrder(): readonly (readonly [server: string, offering: Offering])[] {
    const others = [...offerings.keys()].filter((server) => !order.includes(server));
    return [...order, ...others].flatMap((server) => {
      const offering = offerings.get(server);
      return offering === undefined ? [] : [[server, offering]];
    });
  }

  function toTools(
    { name: serverName, trust, timeout }: RegisteredServer,
    catalog: Catalog,
  ): readonly DiscoveredMCPTool[] {
    return catalog.tools.map(
      ({ name: serverToolName, title, description = "", inputSchema, outputSchema, annotations }) =>
        new DiscoveredMCPTool({
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
          compile: (raw, dialect) => compilerFor(dialect).compile(raw),
        }),
    );
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
            if (binding === undefined) throw new HostError("internal", "this registry is not bound to a host");
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
    put(server, offering) {
      const { name } = server;
      const { catalog } = offering;
      offerings.set(name, offering);
      tools.replaceServer(name, toTools(server, catalog));
      prompts.replaceServer(name, toPrompts(server, catalog));
      resources.replaceServer(name, catalog);
      notes.set(name, notesOn(server, offering));
    },
    remove(server) {
      offerings.delete(server);
      notes.delete(server);
      tools.removeServer(server);
      prompts.removeServer(server);
      resources.removeServer(server);
    },
    offering: (server) => offerings.get(server),
    hidden: () =>
      inOrder().flatMap(([server, offering]) =>
        [...offering.hidden].map(([serverToolName, setting]) => ({ server, serverToolName, setting })),
      ),
    notes: () => inOrder().flatMap(([server]) => notes.get(server) ?? []),
    // What a server lists without a name, or twice, never became a tool; whoever looks for it finds it here.
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

/** What someone should know who wonders where a tool is. */
function notesOn({ name: server, filter }: RegisteredServer, { catalog, hidden }: Offering): readonly HostNote[] {
  const all = [...catalog.tools.map(({ name }) => name), ...hidden.keys()];
  const idle = unmatchedEntries(all, filter).map(({ message }) => ({ server, message }));
  const cut = catalog.truncated.map(({ kind, reason }) => ({
    server,
    message: `the list of ${kind} is cut: ${reason}`,
  }));
  return [...idle, ...cut];
}
