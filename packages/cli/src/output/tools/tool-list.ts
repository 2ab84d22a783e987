/** The tools of a server as text: signatures, annotations and descriptions. */

import type { HiddenTool, HostTool } from "@fairlead/core/host";
import { resolved } from "@fairlead/core/normalise/schema/pointer";
import { parametersOf } from "@fairlead/core/normalise/schema/properties";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { member } from "@fairlead/wire/json";
import { count, type Style } from "../output.ts";
import { fill } from "../wrap.ts";
import { badges, ruled } from "./badges.ts";
import { descriptionLines, remarkLines } from "./description.ts";
import { brief, full, toSignature } from "./signature.ts";

export interface ToolListOptions {
  readonly style: Style;
  readonly columns: number;
  /** Show every parameter and the whole description. */
  readonly all: boolean;
}

/** `hidden`: tools that `includeTools` or `excludeTools` filters out. */
export function serverToolsText(
  server: string,
  tools: readonly HostTool[],
  options: ToolListOptions,
  hidden: readonly Pick<HiddenTool, "setting">[] = [],
): SafeText {
  const settings = [...new Set(hidden.map(({ setting }) => setting))].sort().join(" and ");
  const more = hidden.length === 0 ? safe`` : safe` (${hidden.length} more hidden by ${toSafeLine(settings)})`;
  const title = safe`${options.style.bold(toVisibleLine(server))}: ${count(tools.length, "tool")}${more}`;
  return joinSafe([title, ...tools.map((tool) => toolText(tool, options))], safe`\n\n`);
}

function toolText(tool: HostTool, options: ToolListOptions): SafeText {
  const { columns, style, all } = options;
  const talk = [...descriptionLines(tool.description, { columns, all }), ...(all ? parameterLines(tool, columns) : [])];
  return joinSafe([...signatureLines(tool, options), ...talk.map((line) => style.dim(line))]);
}

function signatureLines(tool: HostTool, { style, columns, all }: ToolListOptions): readonly SafeText[] {
  const { name, parameters, output } = toSignature(tool, all ? full : brief);
  const last = parameters.length - 1;
  const [first = safe`)`, ...others] = parameters.map((one, at) => (at === last ? safe`${one})` : safe`${one},`));
  const pieces = [
    safe`${style.cyan(name)}(${first}`,
    ...others,
    ...(output === undefined ? [] : [safe`→ ${output}`]),
    ...badges(tool, style),
    ...ruled(tool, style),
    ...(tool.name === tool.serverToolName ? [] : [style.dim(safe`as ${toVisibleLine(tool.name)}`)]),
  ];
  return fill(pieces, { columns, indent: safe`  `, hanging: safe`    ` });
}

function parameterLines({ inputSchema }: HostTool, columns: number): readonly SafeText[] {
  return parametersOf(inputSchema)
    .slice(0, full.parameters)
    .flatMap(({ name, schema }) => remarkLines(name, member(resolved(schema, inputSchema), "description"), columns));
}
