/** One tool of one server, as a registry contains it. */

import type { JsonObject } from "@fairlead/wire";
import { type Clock, systemClock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { describeForModel } from "../normalise/description.ts";
import type { CallableTool, FunctionDeclaration } from "../normalise/model-types.ts";
import { compileSchema } from "../normalise/schema/compile.ts";
import type { CompiledSchema, Repair, SchemaDialect } from "../normalise/schema/compiled-schema.ts";
import { isPlainSchema } from "../normalise/schema/plain-schema.ts";
import { generateValidName, qualify } from "../normalise/tool-name.ts";
import { type AllowList, allowListOf } from "./allow-list.ts";
import type { CallWatch, ToolBinding, ToolExecution } from "./binding.ts";
import { callThrough } from "./callable-tool.ts";
import { askAbout, runEdited, type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "./confirmation.ts";
import { toPlainArguments } from "./plain-arguments.ts";

/** Options of `DiscoveredMCPTool`. */
export interface DiscoveredMCPToolOptions {
  readonly serverName: string;
  readonly serverToolName: string;
  readonly description: string;
  /** The schema of the arguments, as the server sent it. */
  readonly parameterSchemaJson: unknown;
  /** Runs the tool if it has no `binding`. */
  readonly mcpTool?: CallableTool | undefined;
  /** Confirms and runs calls of the tool for a host. */
  readonly binding?: ToolBinding | undefined;
  readonly title?: string | undefined;
  readonly annotations?: JsonObject | undefined;
  readonly outputSchema?: JsonObject | undefined;
  /** Timeout of a call in milliseconds. */
  readonly timeout?: number | undefined;
  readonly trust?: boolean | undefined;
  readonly nameOverride?: string | undefined;
  /** Compiles the schema for the model's API. Called only when the schema is first needed. */
  readonly compile?: ((raw: unknown, dialect: SchemaDialect) => CompiledSchema) | undefined;
  /** True if `compile` certainly accepts the schema, so that Fairlead need not compile it to find out. */
  readonly isPlain?: ((raw: unknown) => boolean) | undefined;
  /** The schema dialect of the model's API. Default: Gemini. */
  readonly dialect?: SchemaDialect | undefined;
  /** The approvals, if the tool has no `binding`. By default, tools with the same `mcpTool` share their approvals. */
  readonly allowList?: AllowList | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * One tool of one server: its declaration for a model, its confirmation and its execution. A tool that
 * comes from a host follows the rules of that host.
 *
 * @throws HostError from `execute` and `shouldConfirmExecute`: `denied`, `arguments_invalid`, `call_timeout`, `cancelled` and others
 *
 * @example
 * ```ts fragment
 * const details = await tool.shouldConfirmExecute(params, signal);
 * if (details !== false) await details.onConfirm(ToolConfirmationOutcome.ProceedOnce);
 * const { llmContent, returnDisplay } = await tool.execute(params, signal);
 * ```
 */
export class DiscoveredMCPTool {
  readonly name: string;
  readonly serverName: string;
  readonly serverToolName: string;
  /** The description that the server sent, not escaped. `schema` contains the description for a model. */
  readonly description: string;
  readonly title: string | undefined;
  readonly annotations: JsonObject | undefined;
  readonly parameterSchemaJson: unknown;
  readonly outputSchema: JsonObject | undefined;
  readonly timeout: number | undefined;
  readonly trust: boolean;
  readonly #options: DiscoveredMCPToolOptions;
  #nameOverride: string | undefined;
  #shared: Shared;
  /**
   * The same tool in a second schema dialect. Cached, so that the schema is compiled only once for all conversations.
   */
  #inDialect: { readonly dialect: SchemaDialect; readonly tool: DiscoveredMCPTool } | undefined;

  constructor(options: DiscoveredMCPToolOptions) {
    checkOptions(options);
    const { serverName, serverToolName, parameterSchemaJson } = options;
    // An empty `nameOverride` counts as absent, because a tool needs a name.
    const nameOverride = options.nameOverride === "" ? undefined : options.nameOverride;
    this.name = generateValidName(nameOverride ?? serverToolName);
    this.serverName = serverName;
    this.serverToolName = serverToolName;
    this.description = options.description;
    this.title = options.title;
    this.annotations = options.annotations;
    this.parameterSchemaJson = parameterSchemaJson;
    this.outputSchema = options.outputSchema;
    this.timeout = options.timeout;
    this.trust = options.trust ?? false;
    this.#options = options;
    this.#nameOverride = nameOverride;
    this.#shared = {};
  }

  /** The `nameOverride` that was passed to the constructor. A registry may give the tool another name. */
  get nameOverride(): string | undefined {
    return this.#nameOverride;
  }

  get parameterSchema(): unknown {
    return this.parameterSchemaJson;
  }

  /** Why the tool cannot be offered to a model; undefined if it can. */
  get quarantine(): string | undefined {
    if (this.#isPlain()) return undefined;
    const compiled = this.#compile();
    return compiled.kind === "quarantined" ? compiled.reason : undefined;
  }

  get repairs(): readonly Repair[] {
    const compiled = this.#compile();
    return compiled.kind === "compiled" ? compiled.repairs : [];
  }

  get schema(): FunctionDeclaration {
    const compiled = this.#compile();
    if (compiled.kind === "quarantined")
      throw new HostError(
        "quarantined",
        `${this.serverName}.${this.serverToolName} cannot be offered to a model: ${compiled.reason}`,
        { serverName: this.serverName },
      );
    const description = describeForModel(this.description);
    return { name: this.name, description, parametersJsonSchema: compiled.schema };
  }

  getFullyQualifiedPrefix(): string {
    return qualify(this.serverName, "");
  }

  asFullyQualifiedTool(): DiscoveredMCPTool {
    return this.#copy(qualify(this.serverName, this.serverToolName));
  }

  /** Returns the same tool under the name that a registry gives it. */
  named(name: string): DiscoveredMCPTool {
    const copy = this.#copy(name);
    copy.#nameOverride = this.#nameOverride;
    return copy;
  }

  /**
   * Returns the same tool for a model whose API uses the given schema dialect. Repeated calls return the same object.
   */
  inDialect(dialect: SchemaDialect): DiscoveredMCPTool {
    if (dialect === (this.#options.dialect ?? "gemini")) return this;
    if (this.#inDialect?.dialect === dialect) return this.#inDialect.tool;
    const options = { ...this.#options, allowList: this.#allowList(), nameOverride: this.name, dialect };
    const copy = new DiscoveredMCPTool(options);
    copy.#nameOverride = this.#nameOverride;
    this.#inDialect = { dialect, tool: copy };
    return copy;
  }

  /**
   * Returns `false` if the call may run without confirmation.
   *
   * @throws HostError `denied` if a rule denies the call
   */
  async shouldConfirmExecute(params: unknown, signal?: AbortSignal): Promise<ToolCallConfirmationDetails | false> {
    const args = this.#toArguments(params);
    const { binding } = this.#options;
    if (binding) return binding.confirm(this, args, signal);
    if (this.trust || this.#allowList().allows(this.serverName, this.serverToolName)) return false;
    const { ProceedOnce, ProceedAlwaysServer, ProceedAlwaysTool, Cancel } = ToolConfirmationOutcome;
    return askAbout(this, args, {
      outcomes: [ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, Cancel],
      answer: (outcome) => {
        if (outcome === ProceedAlwaysServer) this.#allowList().addServer(this.serverName);
        if (outcome === ProceedAlwaysTool) this.#allowList().addTool(this.serverName, this.serverToolName);
      },
    });
  }

  async execute(params: unknown, signal?: AbortSignal, watch?: CallWatch): Promise<ToolExecution> {
    const args = this.#toArguments(params);
    const { binding, mcpTool: callable, clock = systemClock } = this.#options;
    if (binding) return runEdited(args, (now) => binding.call(this, now, signal, watch), watch?.onEdited);
    const { serverName, serverToolName, timeout } = this;
    if (callable) return callThrough({ callable, serverName, serverToolName, args, signal, timeout, clock });
    throw new HostError("usage", `${serverName}.${serverToolName} cannot run: it has no mcpTool`, {
      serverName,
      next: "Pass an mcpTool to new DiscoveredMCPTool().",
    });
  }

  /** Returns a copy of the arguments with the server's own property names. A model may have got different names. */
  #toArguments(params: unknown): JsonObject {
    const args = toPlainArguments(params, this.serverName);
    const compiled = this.#compile();
    return compiled.kind === "compiled" ? compiled.restore(args) : args;
  }

  #copy(nameOverride: string): DiscoveredMCPTool {
    // All copies share one options object, because there may be very many copies.
    const copy = new DiscoveredMCPTool(this.#options);
    (copy as { name: string }).name = generateValidName(nameOverride);
    copy.#nameOverride = nameOverride;
    copy.#shared = this.#shared;
    return copy;
  }

  #compile(): CompiledSchema {
    const { compile = compileSchema, dialect = "gemini" } = this.#options;
    this.#shared.compiled ??= compile(this.parameterSchemaJson, dialect);
    return this.#shared.compiled;
  }

  #isPlain(): boolean {
    const { compile, isPlain = compile === undefined ? isPlainSchema : undefined } = this.#options;
    this.#shared.isPlain ??= isPlain?.(this.parameterSchemaJson) ?? false;
    return this.#shared.isPlain;
  }

  #allowList(): AllowList {
    this.#shared.allowList ??= this.#options.allowList ?? allowListOf(this.#options.mcpTool);
    return this.#shared.allowList;
  }
}

/**
 * The data that all copies of a tool with the same dialect share. Each member is computed when it is first needed,
 * because most tools are never used.
 */
interface Shared {
  compiled?: CompiledSchema;
  isPlain?: boolean;
  allowList?: AllowList;
}

/**
 * Refuses the eight positional parameters of Gemini CLI's constructor. Code written for Gemini CLI must get an error,
 * not a tool without a name.
 */
function checkOptions(options: unknown): void {
  const isNamed =
    typeof options === "object" &&
    options !== null &&
    "serverName" in options &&
    typeof options.serverName === "string" &&
    "serverToolName" in options &&
    typeof options.serverToolName === "string";
  if (isNamed) return;
  const form =
    "new DiscoveredMCPTool({ mcpTool, serverName, serverToolName, description, parameterSchemaJson, timeout, trust, nameOverride })";
  throw new HostError("usage", `DiscoveredMCPTool takes one object with named members, not a list: write ${form}`, {
    next: form,
  });
}
