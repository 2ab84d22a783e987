/** The base classes of tools as Gemini CLI has them: a tool that runs by itself, and a tool that builds invocations. */

import { HostError } from "../errors.ts";
import { aBoolean, aName, anObject, aSignal, aString, expectArguments } from "../expect-arguments.ts";
import type { FunctionCall, FunctionResponse, Part } from "../normalise/model-types.ts";
import type { ToolCallConfirmationDetails, ToolConfirmationOutcome } from "../policy/confirmation.ts";

/** The arguments of a tool, by name. */
export type ToolParams = Record<string, unknown>;

/** A call of a tool. A tool of this subpath always names the function. */
export interface NamedCall extends FunctionCall {
  name: string;
}

/** A part of a result, as the tool's `CallableTool` gave it or transformed for a model. */
export interface ResponsePart extends Omit<Part, "functionResponse"> {
  functionResponse?: Omit<FunctionResponse, "response"> & {
    /** The MCP result, with `content` and `isError`. Its types are the server's. */
    // biome-ignore lint/suspicious/noExplicitAny: programs that were written for Gemini CLI read its members unchecked.
    response?: Record<string, any>;
  };
}

/** The result of a tool: for the model and for the person. */
export interface ToolRunResult {
  llmContent: ResponsePart[];
  returnDisplay: string;
  /** The error that the tool reported. */
  error?: HostError;
}

/** A tool's declaration for a model. */
export interface ToolDeclaration {
  name: string;
  description: string;
  parametersJsonSchema: unknown;
}

/**
 * The confirmation of a call, as a tool of the program's own may write it. A `DiscoveredMCPTool` also gives the exact
 * arguments, the description and the answers to offer. Texts are as the server sent them: escape them before you show
 * them.
 */
export type ToolMcpConfirmationDetails = Pick<
  ToolCallConfirmationDetails,
  "type" | "title" | "serverName" | "toolName" | "toolDisplayName"
> &
  Partial<Omit<ToolCallConfirmationDetails, "onConfirm">> & {
    /** Receives the person's answer. */
    readonly onConfirm: (outcome: ToolConfirmationOutcome) => Promise<void>;
  };

/** A tool with a name, a description and a schema. A subclass says how it runs. */
export abstract class BaseTool<TParams extends object = ToolParams, TResult extends ToolRunResult = ToolRunResult> {
  readonly name: string;
  readonly displayName: string;
  /** The description that the server sent, not escaped. `schema` contains the description for a model. */
  readonly description: string;
  /** What the tool does, for example `read` or `other`. Fairlead does not read it. */
  readonly kind: string;
  readonly parameterSchema: unknown;
  readonly isOutputMarkdown: boolean;
  readonly canUpdateOutput: boolean;

  constructor(
    name: string,
    displayName: string,
    description: string,
    kind: string,
    parameterSchema: unknown,
    isOutputMarkdown = true,
    canUpdateOutput = false,
  ) {
    expectArguments("new BaseTool()", {
      name: [name, aName],
      displayName: [displayName, aString],
      description: [description, aString],
      kind: [kind, aString],
      parameterSchema: [parameterSchema, anObject],
      isOutputMarkdown: [isOutputMarkdown, aBoolean],
      canUpdateOutput: [canUpdateOutput, aBoolean],
    });
    this.name = name;
    this.displayName = displayName;
    this.description = description;
    this.kind = kind;
    this.parameterSchema = parameterSchema;
    this.isOutputMarkdown = isOutputMarkdown;
    this.canUpdateOutput = canUpdateOutput;
  }

  /** The declaration for a model. */
  get schema(): ToolDeclaration {
    return { name: this.name, description: this.description, parametersJsonSchema: this.parameterSchema };
  }

  /** Returns why the arguments are wrong, or null. */
  validateToolParams(_params: TParams): string | null {
    return null;
  }

  /** Describes a call in a line. */
  getDescription(params: TParams): string {
    return describe(params);
  }

  /** Returns the confirmation that a person must answer first; `false` if none is needed. */
  async shouldConfirmExecute(
    _params: TParams,
    _abortSignal?: AbortSignal,
  ): Promise<ToolMcpConfirmationDetails | false> {
    return false;
  }

  abstract execute(params: TParams, signal?: AbortSignal): Promise<TResult>;
}

/** One call of a tool: its arguments, its confirmation and its execution. */
export abstract class BaseToolInvocation<
  TParams extends object = ToolParams,
  TResult extends ToolRunResult = ToolRunResult,
> {
  readonly params: TParams;

  constructor(params: TParams) {
    expectArguments("new BaseToolInvocation()", { params: [params, anObject] });
    this.params = params;
  }

  getDescription(): string {
    return describe(this.params);
  }

  /** The files that the call changes. */
  toolLocations(): { path: string; line?: number }[] {
    return [];
  }

  shouldConfirmExecute(abortSignal: AbortSignal): Promise<ToolMcpConfirmationDetails | false> {
    return this.getConfirmationDetails(abortSignal);
  }

  protected async getConfirmationDetails(_abortSignal: AbortSignal): Promise<ToolMcpConfirmationDetails | false> {
    return false;
  }

  abstract execute(signal: AbortSignal): Promise<TResult>;
}

/** A tool that checks arguments and builds an invocation from them. */
export abstract class BaseDeclarativeTool<
  TParams extends object = ToolParams,
  TResult extends ToolRunResult = ToolRunResult,
> extends BaseTool<TParams, TResult> {
  /** @throws HostError `usage`; `arguments_invalid` with the reason that `validateToolParams` gives */
  build(params: TParams): BaseToolInvocation<TParams, TResult> {
    expectArguments("build()", { params: [params, anObject] });
    const wrong = this.validateToolParams(params);
    if (wrong !== null) throw new HostError("arguments_invalid", wrong);
    return this.createInvocation(params);
  }

  async buildAndExecute(params: TParams, signal: AbortSignal = new AbortController().signal): Promise<TResult> {
    expectArguments("buildAndExecute()", { signal: [signal, aSignal] });
    return this.build(params).execute(signal);
  }

  override async shouldConfirmExecute(
    params: TParams,
    abortSignal: AbortSignal = new AbortController().signal,
  ): Promise<ToolMcpConfirmationDetails | false> {
    expectArguments("shouldConfirmExecute()", { abortSignal: [abortSignal, aSignal] });
    return this.build(params).shouldConfirmExecute(abortSignal);
  }

  async execute(params: TParams, signal?: AbortSignal): Promise<TResult> {
    return this.buildAndExecute(params, signal);
  }

  protected abstract createInvocation(params: TParams): BaseToolInvocation<TParams, TResult>;
}

/** Returns params as JSON text. @throws HostError `usage` */
function describe(params: object): string {
  expectArguments("getDescription()", { params: [params, anObject] });
  try {
    return JSON.stringify(params);
  } catch (cause) {
    throw new HostError("usage", 'getDescription(): "params" must be JSON', { cause });
  }
}
