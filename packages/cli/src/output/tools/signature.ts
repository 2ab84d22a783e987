/** Formats a tool's signature, `name(required: type, optional?: type = default) → type`, and an example call. */

import type { HostTool } from "@fairlead/core/host";
import {
  argumentSchema,
  createTypeWriter,
  fold,
  type Property,
  parametersOf,
  resolved,
  type TypeLimits,
  toKey,
  toLiteral,
} from "@fairlead/core/normalise";
import { toShellWord } from "@fairlead/core/plain-text";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { isShallow, listOf, member } from "@fairlead/wire/json";
import { unlessEmpty } from "../output.ts";

/** What a signature needs of a tool. */
export type SignedTool = Pick<HostTool, "serverToolName" | "inputSchema" | "outputSchema">;

/** How much of a tool's schemas a signature shows. */
interface SignatureLimits extends TypeLimits {
  /** Maximum number of parameters to show. Up to 40 required parameters are shown even above this maximum. */
  readonly parameters: number;
}

/** The limits for a list of tools. */
export const brief: SignatureLimits = { parameters: 5, depth: 2, members: 6, parts: 100 };
/** The limits for `--all`. */
export const full: SignatureLimits = { parameters: 200, depth: 6, members: 50, parts: 500 };

const mostRequired = 40;

/** A signature in pieces. A line may be wrapped between two pieces. */
interface Signature {
  readonly name: SafeText;
  readonly parameters: readonly SafeText[];
  readonly output?: SafeText;
}

/** Returns the signature in pieces. If parameters are left out, the last piece says how many (`…+2`). */
export function toSignature(tool: SignedTool, limits: SignatureLimits = brief): Signature {
  const { serverToolName, outputSchema } = tool;
  const inputSchema = argumentSchema(tool.inputSchema);
  const parameters = parametersOf(inputSchema);
  const required = parameters.filter((parameter) => parameter.required).length;
  const most = Math.max(limits.parameters, Math.min(required, mostRequired));
  const typeOf = createTypeWriter(inputSchema, limits);
  const output = outputSchema && createTypeWriter(outputSchema, limits)(outputSchema);
  return {
    name: toVisibleLine(serverToolName),
    parameters: fold(parameters, most, ({ name, required: isRequired, schema }) => {
      const fallback = member(resolved(schema, inputSchema), "default");
      const ending = fallback === undefined ? "" : ` = ${toLiteral(fallback)}`;
      return `${toKey(name)}${isRequired ? "" : "?"}: ${typeOf(schema)}${ending}`;
    }).map(toVisibleLine),
    output: output === undefined || output === "unknown" ? undefined : toVisibleLine(output),
  };
}

/** Returns the signature on one line, with the limits `brief`. */
export function signature(tool: SignedTool): SafeText {
  const { name, parameters, output } = toSignature(tool);
  return safe`${name}(${joinSafe(parameters, safe`, `)})${output === undefined ? safe`` : safe` → ${output}`}`;
}

/** Returns the words after `fairlead call`: the tool and its required arguments, with sample values. */
export function exampleCall({
  server,
  serverToolName,
  inputSchema,
}: Pick<HostTool, "server" | "serverToolName" | "inputSchema">): SafeText {
  const words = parametersOf(inputSchema).flatMap((parameter) =>
    parameter.required ? [toShellWord(exampleWord(parameter, inputSchema))] : [],
  );
  return toSafeLine([toShellWord(`${server}.${serverToolName}`), ...words].join(" "));
}

/** Names of texts that can be anything. */
const freeText = /^(?:content|input|keywords?|messages?|prompt|q|query|question|search|term|text|topic|words?)$/i;

/** Whether the sample values of an example call can work: a made-up path or id cannot. */
export function hasSamples({ inputSchema }: Pick<HostTool, "inputSchema">): boolean {
  return parametersOf(inputSchema).every(({ name, required, schema }) => {
    if (!required) return true;
    const meant = resolved(schema, inputSchema);
    const type = member(meant, "type");
    if (sampleOf(meant) !== undefined || type === "boolean" || type === "integer" || type === "number") return true;
    return type === "string" && freeText.test(name);
  });
}

function sampleOf(meant: unknown): unknown {
  const samples = [member(meant, "const"), listOf(member(meant, "examples"))[0], listOf(member(meant, "enum"))[0]];
  return samples.find((one) => one !== undefined && isShallow(one));
}

function exampleWord({ name, schema }: Property, root: unknown): string {
  const meant = resolved(schema, root);
  const sample = sampleOf(meant);
  if (typeof sample === "string") return `${name}=${sample}`;
  if (sample !== undefined) return `${name}:=${JSON.stringify(sample)}`;
  switch (member(meant, "type")) {
    case "integer":
    case "number":
      return `${name}=1`;
    case "boolean":
      return `${name}=true`;
    case "array":
      return `${name}=[]`;
    case "object":
      return `${name}={}`;
    default:
      return `${name}=text`;
  }
}

// Converts a tool to JSON output.

/** Returns the tool as the model gets it, and a list of the changes that Fairlead made to the tool's schema. */
export function toolDocument(tool: HostTool): object {
  const { name, server, serverToolName, title, description, parametersJsonSchema, decision, repairs } = tool;
  const { annotations, outputSchema } = tool;
  return {
    name,
    server,
    serverToolName,
    title,
    description,
    parametersJsonSchema,
    outputSchema: outputSchema && printable(outputSchema),
    annotations: annotations && printable(annotations),
    decision,
    repairs: unlessEmpty(repairs),
  };
}

/** The placeholder for a value that is nested too deeply. */
export const tooDeep = "nested too deeply to be printed";

/** Returns the value, or a placeholder if the value is nested too deeply for `JSON.stringify`. */
function printable(value: object): object {
  return isShallow(value) ? value : { unprintable: tooDeep };
}
