/** `DiscoveredMCPTool` with the constructors of both descriptions of Gemini CLI, and the invocation that it builds. */

import type { JsonObject } from "@fairlead/wire";
import { type Clock, systemClock } from "../clock.ts";
import { HostError } from "../errors.ts";
import {
  aBoolean,
  aFunction,
  aName,
  anObject,
  aSignal,
  aString,
  expectArguments,
  optional,
  readMembers,
  someMilliseconds,
  withMethod,
} from "../expect-arguments.ts";
import type { CallableTool, FunctionDeclaration } from "../normalise/model-types.ts";
import type { Repair } from "../normalise/schema/compile.ts";
import { generateValidName, qualify } from "../normalise/tool-name.ts";
import { ToolSchema, type ToolSchemaOptions } from "../normalise/tool-schema.ts";
import { askAbout, type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "../policy/confirmation.ts";
import { type AllowList, processAllowList } from "./allow-list.ts";
import { BaseDeclarativeTool, BaseToolInvocation, type ToolParams, type ToolRunResult } from "./base-tool.ts";
import { callRaw } from "./call-tool.ts";
import { aConfig, type Config, isTrusted } from "./config.ts";
import { getStringifiedResultForDisplay, isToolError, transformMcpContentToParts } from "./content.ts";
import { readParams } from "./params.ts";

/** The arguments of `DiscoveredMCPTool` as one object, and what only this form can say. */
export interface DiscoveredMCPToolOptions extends ToolSchemaOptions {
  /** Runs the tool. */
  readonly mcpTool: CallableTool;
  readonly serverName: string;
  /** The name that the server gives the tool. */
  readonly serverToolName: string;
  readonly description: string;
  /** The schema of the arguments, as the server sent it. */
  readonly parameterSchemaJson: unknown;
  /** Timeout of a call in milliseconds. Default: none of its own. */
  readonly timeout?: number | undefined;
  /** Whether calls need no confirmation. With `cliConfig`, it counts only in a trusted folder. */
  readonly trust?: boolean | undefined;
  readonly nameOverride?: string | undefined;
  readonly cliConfig?: Config | undefined;
  readonly title?: string | undefined;
  readonly annotations?: JsonObject | undefined;
  readonly outputSchema?: JsonObject | undefined;
  /** The approvals of this tool. Default: those of the process, by the names of server and tool. */
  readonly allowList?: AllowList | undefined;
  readonly clock?: Clock | undefined;
}

/** The options of a tool, and what only this file sets. */
interface ToolOptions extends DiscoveredMCPToolOptions {
  /** Whether `trust` counts only with a `cliConfig`, as in the constructor that has this parameter. */
  readonly needsConfig?: boolean | undefined;
  /** The name that a registry gives the tool. */
  readonly shownName?: string | undefined;
  /** The schema that copies of the tool share. */
  readonly compiled?: ToolSchema | undefined;
}

/**
 * One tool of one server, without a host: it checks `trust` and the approvals of the process, and nothing else.
 * `execute(params)` gives the response parts as the `CallableTool` returned them; `build(params).execute(signal)` gives
 * parts for a model, marked as untrusted. Neither asks for confirmation: call `shouldConfirmExecute` first.
 *
 * @throws HostError `usage` if an argument of the constructor is wrong; from its methods `arguments_invalid`,
 * `call_timeout`, `cancelled`, `protocol`, and errors of the `CallableTool`
 *
 * @example
 * ```ts
 * import { connectToMcpServer, DiscoveredMCPTool, mcpToTool, ToolConfirmationOutcome } from "@fairlead/core/gemini";
 *
 * const client = await connectToMcpServer("files", { command: "my-server" });
 * const schema = { type: "object", properties: { path: { type: "string" } } };
 * const tool = new DiscoveredMCPTool(mcpToTool(client), "files", "read", "Reads a file.", schema, 30_000, false);
 * const details = await tool.shouldConfirmExecute({ path: "a.txt" });
 * if (details) await details.onConfirm(ToolConfirmationOutcome.ProceedAlwaysTool);
 * const { llmContent, returnDisplay } = await tool.execute({ path: "a.txt" });
 * await client.close();
 * ```
 */
export class DiscoveredMCPTool extends BaseDeclarativeTool<ToolParams, ToolRunResult> {
  readonly serverName: string;
  readonly serverToolName: string;
  readonly parameterSchemaJson: unknown;
  readonly timeout: number | undefined;
  readonly trust: boolean | undefined;
  readonly title: string | undefined;
  readonly annotations: JsonObject | undefined;
  readonly outputSchema: JsonObject | undefined;
  /** The `nameOverride` that was passed to the constructor. A registry may give the tool another name. */
  readonly nameOverride: string | undefined;
  readonly #options: ToolOptions;
  readonly #schema: ToolSchema;

  constructor(options: DiscoveredMCPToolOptions);
  constructor(
    mcpTool: CallableTool,
    serverName: string,
    serverToolName: string,
    description: string,
    parameterSchema: unknown,
    trust?: boolean,
    nameOverride?: string,
    cliConfig?: Config,
  );
  constructor(
    mcpTool: CallableTool,
    serverName: string,
    serverToolName: string,
    description: string,
    parameterSchemaJson: unknown,
    timeout?: number,
    trust?: boolean,
    nameOverride?: string,
  );
  constructor(...given: readonly unknown[]) {
    const options = toOptions(given);
    const { serverName, serverToolName, description, parameterSchemaJson, nameOverride, shownName } = options;
    super(
      generateValidName(shownName ?? (nameOverride || serverToolName)),
      `${serverToolName} (${serverName} MCP Server)`,
      description,
      "other",
      parameterSchemaJson,
    );
    this.serverName = serverName;
    this.serverToolName = serverToolName;
    this.parameterSchemaJson = parameterSchemaJson;
    this.timeout = options.timeout;
    this.trust = options.trust;
    this.title = options.title;
    this.annotations = options.annotations;
    this.outputSchema = options.outputSchema;
    this.nameOverride = nameOverride === "" ? undefined : nameOverride;
    this.#options = options;
    this.#schema = options.compiled ?? new ToolSchema(parameterSchemaJson, options);
  }

  /** The declaration for a model. Its schema is compiled for the Gemini API. @throws HostError `quarantined` */
  override get schema(): FunctionDeclaration {
    return this.#schema.declare(this);
  }

  /** Why the tool cannot be offered to a model; undefined if it can. */
  get quarantine(): string | undefined {
    return this.#schema.quarantine;
  }

  get repairs(): readonly Repair[] {
    return this.#schema.repairs;
  }

  getFullyQualifiedPrefix(): string {
    return qualify(this.serverName, "");
  }

  asFullyQualifiedTool(): DiscoveredMCPTool {
    return this.#copy({ nameOverride: qualify(this.serverName, this.serverToolName), shownName: undefined });
  }

  /** Returns the same tool under the name that a registry gives it. */
  named(name: string): DiscoveredMCPTool {
    expectArguments("named()", { name: [name, aName] });
    return this.#copy({ shownName: name });
  }

  override async shouldConfirmExecute(
    params: ToolParams,
    abortSignal?: AbortSignal,
  ): Promise<ToolCallConfirmationDetails | false> {
    expectArguments("shouldConfirmExecute()", { abortSignal: [abortSignal, optional(aSignal)] });
    const args = this.#restore("shouldConfirmExecute()", params);
    const { allowList = processAllowList } = this.#options;
    const { serverName, serverToolName } = this;
    if (this.#isTrusted() || allowList.allows(serverName, serverToolName)) return false;
    const { ProceedOnce, ProceedAlwaysServer, ProceedAlwaysTool, Cancel } = ToolConfirmationOutcome;
    return askAbout(this, args, {
      outcomes: [ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, Cancel],
      answer: (outcome) => {
        if (outcome === ProceedAlwaysServer) allowList.addServer(serverName);
        if (outcome === ProceedAlwaysTool) allowList.addTool(serverName, serverToolName);
      },
    });
  }

  override build(params: ToolParams): DiscoveredMCPToolInvocation {
    return super.build(readParams("build()", params, this.serverName)) as DiscoveredMCPToolInvocation;
  }

  /** Runs the tool and returns its response parts as they are. */
  override async execute(params: ToolParams, signal?: AbortSignal): Promise<ToolRunResult> {
    expectArguments("execute()", { signal: [signal, optional(aSignal)] });
    const { mcpTool: callable, clock = systemClock } = this.#options;
    const { serverName, serverToolName, timeout } = this;
    const args = this.#restore("execute()", params);
    const llmContent = await callRaw({ callable, serverName, serverToolName, args, signal, timeout, clock });
    const returnDisplay = getStringifiedResultForDisplay(llmContent);
    if (!isToolError(llmContent)) return { llmContent, returnDisplay };
    const message = `${serverName}.${serverToolName} reported an error: ${returnDisplay.slice(0, 500)}`;
    return { llmContent, returnDisplay, error: new HostError("tool_error", message, { serverName }) };
  }

  /** Returns a copy of the arguments with the server's own property names. A model may have got different names. */
  toServerArguments(params: ToolParams): JsonObject {
    return this.#restore("toServerArguments()", params);
  }

  protected createInvocation(params: ToolParams): DiscoveredMCPToolInvocation {
    return new DiscoveredMCPToolInvocation(this, params);
  }

  #isTrusted(): boolean {
    const { trust = false, cliConfig, needsConfig } = this.#options;
    if (cliConfig === undefined) return trust && !needsConfig;
    return trust && isTrusted(cliConfig);
  }

  #restore(call: string, params: unknown): JsonObject {
    return this.#schema.restore(readParams(call, params, this.serverName));
  }

  #copy(changes: Partial<ToolOptions>): DiscoveredMCPTool {
    const options: ToolOptions = { ...this.#options, compiled: this.#schema, ...changes };
    return new DiscoveredMCPTool(options);
  }
}

/** One call of a `DiscoveredMCPTool`. Its result has parts for a model, marked as untrusted. */
export class DiscoveredMCPToolInvocation extends BaseToolInvocation<ToolParams, ToolRunResult> {
  readonly #tool: DiscoveredMCPTool;

  constructor(tool: DiscoveredMCPTool, params: ToolParams) {
    expectArguments("new DiscoveredMCPToolInvocation()", {
      tool: [tool, withMethod("execute")],
      params: [params, anObject],
    });
    super(params);
    this.#tool = tool;
  }

  protected override getConfirmationDetails(signal: AbortSignal): Promise<ToolCallConfirmationDetails | false> {
    return this.#tool.shouldConfirmExecute(this.params, signal);
  }

  async execute(signal?: AbortSignal): Promise<ToolRunResult> {
    const result = await this.#tool.execute(this.params, signal);
    const { serverToolName: toolName } = this.#tool;
    return { ...result, llmContent: transformMcpContentToParts(result.llmContent, { toolName }) };
  }
}

/** Reads the arguments of the constructor, in one of its forms. @throws HostError `usage` */
function toOptions(list: readonly unknown[]): ToolOptions {
  const options = list.length <= 1 ? list[0] : fromList(list);
  const call = "new DiscoveredMCPTool()";
  expectArguments(call, { options: [options, anObject] });
  const given = options as ToolOptions & { readonly parameterSchema?: unknown };
  const { parameterSchema, ...tool } = readMembers(call, given, wantedOptions);
  const parameterSchemaJson = tool.parameterSchemaJson ?? parameterSchema;
  expectArguments(call, { parameterSchema: [parameterSchemaJson, anObject] });
  return { ...tool, parameterSchemaJson };
}

const wantedOptions = {
  mcpTool: withMethod("callTool"),
  serverName: aName,
  serverToolName: aName,
  description: aString,
  parameterSchemaJson: optional(anObject),
  parameterSchema: optional(anObject),
  timeout: optional(someMilliseconds),
  trust: optional(aBoolean),
  nameOverride: optional(aString),
  cliConfig: aConfig,
  title: optional(aString),
  annotations: optional(anObject),
  outputSchema: optional(anObject),
  allowList: optional(withMethod("allows")),
  clock: optional(withMethod("after")),
  dialect: optional(aString),
  compile: optional(aFunction),
  isPlain: optional(aFunction),
  needsConfig: optional(aBoolean),
  shownName: optional(aString),
  compiled: optional(anObject),
};

/**
 * Reads a list of arguments. One description has `timeout, trust, nameOverride` after the schema, the other has `trust,
 * nameOverride, cliConfig`. Their types tell which: `trust` is a boolean, and a `cliConfig` is an object.
 */
function fromList(given: readonly unknown[]): object {
  const [mcpTool, serverName, serverToolName, description, parameterSchemaJson, ...rest] = given;
  const tool = { mcpTool, serverName, serverToolName, description, parameterSchemaJson };
  const [first, second, third, fourth] = rest;
  const isWithConfig =
    typeof first !== "number" &&
    (typeof first === "boolean" || typeof second === "string" || typeof third === "object");
  return isWithConfig
    ? { ...tool, trust: first, nameOverride: second, cliConfig: third, needsConfig: true }
    : { ...tool, timeout: first, trust: second, nameOverride: third, cliConfig: fourth };
}
