/** One tool of one server, as the registry of a host contains it: data, and the two functions that its host gives it. */

import type { JsonObject, Progress } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import type { Keep } from "../normalise/content/parts.ts";
import type { FunctionDeclaration, Part } from "../normalise/model-types.ts";
import { toPlainArguments } from "../normalise/plain-arguments.ts";
import type { Repair, SchemaDialect } from "../normalise/schema/compile.ts";
import { generateValidName, qualify } from "../normalise/tool-name.ts";
import { ToolSchema, type ToolSchemaOptions } from "../normalise/tool-schema.ts";
import type { AskedTool, ConfirmPort, ToolCallConfirmationDetails } from "../policy/confirmation.ts";
import { appOnlyReason } from "./tool-view.ts";

/** The result of a call, for the model and for the user. An error that the tool itself reports is a result too. */
export interface ToolExecution {
  readonly llmContent: Part[];
  readonly returnDisplay: string;
  /**
   * The result as `fairlead call` prints it: JSON without a Markdown fence, and an empty text for an empty result.
   * Absent if it equals `returnDisplay`.
   */
  readonly plainDisplay?: string;
  readonly error?: HostError;
  /** The files with those parts of the result that the model does not get. */
  readonly files?: readonly string[];
  /** Warnings: the result violates the tool's schema, or a part of the result could not be checked. */
  readonly warnings?: readonly string[];
}

/** Functions that a caller passes with a tool call, for example to confirm it or to show its progress. */
export interface CallWatch {
  /**
   * Asks the user when the rules require a confirmation. Without this function, a call that requires one runs only if
   * the user has already confirmed it with exactly these arguments.
   */
  readonly confirm?: ConfirmPort;
  /** Called when the user has changed the arguments. The call begins again with these. */
  readonly onEdited?: (args: JsonObject) => void;
  /** Receives the rule that allowed the call. */
  readonly onAllowed?: (rule: string) => void;
  /** Called when the call leaves the queue and is sent. */
  readonly onStart?: () => void;
  readonly onProgress?: (progress: Progress) => void;
  /** Stores results that are too large, so that the model can read them later. */
  readonly results?: LargeResults;
}

/** Stores results that are too large for a request to a model. */
export interface LargeResults {
  /** The largest result, in tokens, that the model gets completely. */
  readonly tokens: number;
  readonly keep: Keep;
}

/**
 * Confirms and runs tools for a host. Arguments have the property names of the server's own schema, not the names that
 * the model sees.
 */
export interface ToolBinding {
  /**
   * Returns `false` if the call may run, otherwise the confirmation that the user must answer first.
   *
   * @throws HostError `denied`, naming the rule
   */
  confirm(
    tool: AskedTool,
    params: JsonObject,
    signal: AbortSignal | undefined,
  ): Promise<ToolCallConfirmationDetails | false>;
  /**
   * Runs a call that is allowed, or confirmed with exactly these arguments.
   *
   * @throws HostError `denied`
   */
  call(tool: AskedTool, params: JsonObject, signal: AbortSignal | undefined, watch?: CallWatch): Promise<ToolExecution>;
}

/** Options of `RegisteredTool`. */
export interface RegisteredToolOptions extends ToolSchemaOptions {
  readonly serverName: string;
  readonly serverToolName: string;
  readonly description: string;
  /** The schema of the arguments, as the server sent it. */
  readonly parameterSchemaJson: unknown;
  /** Confirms and runs calls of the tool. Without it, the tool can be shown, but not called. */
  readonly binding?: ToolBinding | undefined;
  readonly title?: string | undefined;
  readonly annotations?: JsonObject | undefined;
  readonly outputSchema?: JsonObject | undefined;
  /** Whether only views of MCP Apps may call the tool. Then it is not offered to a model. */
  readonly isAppOnly?: boolean | undefined;
  /** Timeout of a call in milliseconds. */
  readonly timeout?: number | undefined;
  readonly trust?: boolean | undefined;
  readonly nameOverride?: string | undefined;
}

/**
 * One tool of a host: its declaration for a model, its confirmation and its execution. It follows the rules of its
 * host.
 *
 * @throws HostError from `execute` and `shouldConfirmExecute`: `denied`, `arguments_invalid`, `call_timeout`,
 * `cancelled` and others
 *
 * @example
 * ```ts fragment
 * const tool = host.toolRegistry.getTool("greet");
 * const details = await tool.shouldConfirmExecute(params, signal);
 * if (details !== false) await details.onConfirm(ToolConfirmationOutcome.ProceedOnce);
 * const { llmContent, returnDisplay } = await tool.execute(params, signal);
 * ```
 */
export class RegisteredTool {
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
  readonly #options: RegisteredToolOptions;
  #nameOverride: string | undefined;
  #schema: ToolSchema;
  /**
   * The same tool in a second schema dialect. Cached, so that the schema is compiled only once for all conversations.
   */
  #inDialect: { readonly dialect: SchemaDialect; readonly tool: RegisteredTool } | undefined;

  constructor(options: RegisteredToolOptions) {
    const { serverName, serverToolName, parameterSchemaJson, nameOverride } = options;
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
    this.#schema = new ToolSchema(parameterSchemaJson, options);
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
    return this.#options.isAppOnly === true ? appOnlyReason : this.#schema.quarantine;
  }

  get repairs(): readonly Repair[] {
    return this.#schema.repairs;
  }

  get schema(): FunctionDeclaration {
    return this.#schema.declare(this);
  }

  getFullyQualifiedPrefix(): string {
    return qualify(this.serverName, "");
  }

  asFullyQualifiedTool(): RegisteredTool {
    return this.#copy(qualify(this.serverName, this.serverToolName));
  }

  /** Returns the same tool under the name that a registry gives it. */
  named(name: string): RegisteredTool {
    const copy = this.#copy(name);
    copy.#nameOverride = this.#nameOverride;
    return copy;
  }

  /**
   * Returns the same tool for a model whose API uses the given schema dialect. Repeated calls return the same object.
   */
  inDialect(dialect: SchemaDialect): RegisteredTool {
    if (dialect === (this.#options.dialect ?? "gemini")) return this;
    if (this.#inDialect?.dialect === dialect) return this.#inDialect.tool;
    const copy = new RegisteredTool({ ...this.#options, nameOverride: this.name, dialect });
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
    return this.#binding().confirm(this, this.toServerArguments(params), signal);
  }

  async execute(params: unknown, signal?: AbortSignal, watch?: CallWatch): Promise<ToolExecution> {
    return this.#binding().call(this, this.toServerArguments(params), signal, watch);
  }

  /** Returns a copy of the arguments with the server's own property names. A model may have got different names. */
  toServerArguments(params: unknown): JsonObject {
    return this.#schema.restore(toPlainArguments(params, this.serverName));
  }

  #binding(): ToolBinding {
    const { binding } = this.#options;
    if (binding !== undefined) return binding;
    throw new HostError("internal", `${this.serverName}.${this.serverToolName} was created without a host`);
  }

  #copy(nameOverride: string): RegisteredTool {
    // All copies share one options object and one schema, because there may be very many copies.
    const copy = new RegisteredTool(this.#options);
    (copy as { name: string }).name = generateValidName(nameOverride);
    copy.#nameOverride = nameOverride;
    copy.#schema = this.#schema;
    return copy;
  }
}
