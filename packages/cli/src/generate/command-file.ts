/** Writes the program of `fairlead generate cli`: one file with a flag for each parameter of each tool. */

import { parametersOf, shapesOf, type ValueShape } from "@fairlead/core/normalise";
import type { CatalogTool } from "@fairlead/core/server";
import { toSafeJson } from "@fairlead/core/text/safe-text";
import { isObject, member } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { commandImports, commandProgram, programOptions } from "./command-program.ts";
import { generatedBy, toStringLiteral } from "./source-text.ts";
import type { ServerTools } from "./typescript-module.ts";

/** How the words after a flag become a value. `any`: JSON if the text is valid JSON, otherwise text. */
type FlagKind = "text" | "number" | "flag" | "any";

interface Flag {
  readonly name: string;
  readonly kind: FlagKind;
  /** Set if the user may repeat the flag. The values then become a list. */
  readonly list?: true;
  readonly required?: true;
  readonly about: string;
}

const longestDescription = 2_000;
const longestWords = 300;

/** Writes the program. Tools are sorted by name, so that the same catalog always gives the same text. */
export function commandFile({ name, tools }: ServerTools): string {
  const table = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(toRow);
  return [
    "#!/usr/bin/env node",
    generatedBy("cli", [name]),
    commandImports,
    "",
    `const server = ${toStringLiteral(name)};`,
    `const tools = [${table.map(rowText).join("")}\n];`,
    "",
    commandProgram,
  ].join("\n");
}

interface Row {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly Flag[];
  /** Names of parameters that cannot be written as flags. */
  readonly others: readonly string[];
}

/** Writes one tool as an element of the program's `tools`, with one line for each flag. */
function rowText({ flags, ...row }: Row): string {
  const lines = flags.map((flag) => `\n    ${toSafeJson(flag, 0)},`);
  return `\n  { ...${toSafeJson(row, 0)}, flags: [${lines.join("")}\n  ] },`;
}

function toRow({ name, title = "", description = title, inputSchema }: CatalogTool): Row {
  const flags = parametersOf(inputSchema).map(({ name: flag, required, schema }): Flag => {
    const about = member(schema, "description");
    return {
      name: flag,
      ...kindOf(schema, inputSchema),
      required: required || undefined,
      about: typeof about === "string" ? clip(about, longestWords) : "",
    };
  });
  const isFlag = (flag: Flag): boolean => /^[A-Za-z][\w-]*$/.test(flag.name) && !programOptions.has(flag.name);
  return {
    name,
    about: clip(description, longestDescription),
    flags: flags.filter(isFlag),
    others: flags.filter((flag) => !isFlag(flag)).map((flag) => flag.name),
  };
}

const kinds: readonly (readonly [kind: FlagKind, ...types: readonly string[]])[] = [
  ["text", "string", "null"],
  ["number", "number", "integer", "null"],
  ["flag", "boolean", "null"],
];

function kindOf(schema: unknown, root: unknown): Pick<Flag, "kind" | "list"> {
  const shapes = shapesOf(schema, root);
  const [first] = shapes;
  if (first !== undefined && shapes.length === 1 && isList(first)) {
    const kind = scalarKind(shapesOf(first.items, root));
    return kind === "any" || kind === "flag" ? { kind: "any" } : { kind, list: true };
  }
  return { kind: scalarKind(shapes) };
}

function isList({ types, items }: ValueShape): boolean {
  return types.size === 1 && types.has("array") && isObject(items);
}

function scalarKind(shapes: readonly ValueShape[]): FlagKind {
  const types = [...new Set(shapes.flatMap((shape) => [...shape.types]))];
  return (
    (types.length > 0 && kinds.find(([, ...kindTypes]) => types.every((type) => kindTypes.includes(type)))?.[0]) ||
    "any"
  );
}
