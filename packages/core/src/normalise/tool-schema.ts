/** The schema of one tool's arguments, compiled for a model's API when it is first needed: most tools are never used. */

import type { JsonObject } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { describeForModel } from "./description.ts";
import type { FunctionDeclaration } from "./model-types.ts";
import { type CompiledSchema, compileSchema, type Repair, type SchemaDialect } from "./schema/compile.ts";
import { isPlainSchema } from "./schema/plain-schema.ts";

/** How `ToolSchema` compiles a schema. */
export interface ToolSchemaOptions {
  /** The schema dialect of the model's API. Default: Gemini. */
  readonly dialect?: SchemaDialect | undefined;
  /** Compiles the schema for the model's API. Called only when the schema is first needed. */
  readonly compile?: ((raw: unknown, dialect: SchemaDialect) => CompiledSchema) | undefined;
  /** True if `compile` certainly accepts the schema, so that Fairlead need not compile it to find out. */
  readonly isPlain?: ((raw: unknown) => boolean) | undefined;
}

/** The tool that a declaration or an error names. */
interface DeclaredTool {
  readonly name: string;
  readonly serverName: string;
  readonly serverToolName: string;
  readonly description: string;
}

/** The server's schema and its compiled form. All copies of a tool under other names share one object. */
export class ToolSchema {
  readonly #raw: unknown;
  readonly #options: ToolSchemaOptions;
  #compiled: CompiledSchema | undefined;
  #isPlain: boolean | undefined;

  constructor(raw: unknown, options: ToolSchemaOptions = {}) {
    this.#raw = raw;
    this.#options = options;
  }

  /** Why the tool cannot be offered to a model; undefined if it can. */
  get quarantine(): string | undefined {
    const { compile, isPlain = compile === undefined ? isPlainSchema : undefined } = this.#options;
    this.#isPlain ??= isPlain?.(this.#raw) ?? false;
    if (this.#isPlain) return undefined;
    const compiled = this.#compile();
    return compiled.kind === "quarantined" ? compiled.reason : undefined;
  }

  get repairs(): readonly Repair[] {
    const compiled = this.#compile();
    return compiled.kind === "compiled" ? compiled.repairs : [];
  }

  /** Returns the tool's declaration for a model. @throws HostError `quarantined` */
  declare({ name, serverName, serverToolName, description }: DeclaredTool): FunctionDeclaration {
    const compiled = this.#compile();
    if (compiled.kind === "compiled")
      return { name, description: describeForModel(description), parametersJsonSchema: compiled.schema };
    const message = `${serverName}.${serverToolName} cannot be offered to a model: ${compiled.reason}`;
    throw new HostError("quarantined", message, { serverName });
  }

  /** Returns the arguments with the server's own property names. A model may have got different names. */
  restore(args: JsonObject): JsonObject {
    const compiled = this.#compile();
    return compiled.kind === "compiled" ? compiled.restore(args) : args;
  }

  #compile(): CompiledSchema {
    const { compile = compileSchema, dialect = "gemini" } = this.#options;
    this.#compiled ??= compile(this.#raw, dialect);
    return this.#compiled;
  }
}
