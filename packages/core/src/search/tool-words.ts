/**
 * Splits a tool into words with weights. A word weighs more in a name than in a description, and less in a long text.
 * Pure.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, objectOf } from "@fairlead/wire/json";
import { searchWords } from "./words.ts";

/** The members of a tool that the search reads. */
export interface SearchableTool {
  /** The name that the server gives the tool. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema?: JsonObject | undefined;
}

/** The members of a server that the search reads. */
export interface SearchableServer {
  readonly name: string;
  readonly title?: string | undefined;
  /** The `instructions` of the server. */
  readonly instructions?: string | undefined;
}

/**
 * How much a word in one field of a tool counts, for BM25F. If the field has more than `usual` words, each word counts
 * less. `b` (0 to 1) says how strongly.
 */
interface Field {
  readonly weight: number;
  readonly usual: number;
  readonly b: number;
}

const nameField: Field = { weight: 3, usual: 2.5, b: 0.3 };
const serverField: Field = { weight: 2, usual: 2.5, b: 0.3 };
const titleField: Field = { weight: 1, usual: 3, b: 0.3 };
const descriptionField: Field = { weight: 1, usual: 20, b: 0.6 };
const parametersField: Field = { weight: 1, usual: 4, b: 0.6 };
const instructionsField: Field = { weight: 0.8, usual: 20, b: 0.7 };
const parameterTextsField: Field = { weight: 0.25, usual: 12, b: 0.7 };

const longestInstructions = 400;
const longestText = 4000;

type Weights = Map<string, number>;

/** The words of a server's name, title and instructions, which all tools of the server share. */
export function wordsOfServer({ name, title = "", instructions = "" }: SearchableServer): ReadonlyMap<string, number> {
  const weights: Weights = new Map();
  add(weights, `${name} ${title}`, serverField);
  add(weights, instructions.slice(0, longestInstructions), instructionsField);
  return weights;
}

/** The words of one tool and its server, each with its weight. */
export interface ToolWords {
  readonly weights: ReadonlyMap<string, number>;
  /** How many characters of the tool's texts were split into words. */
  readonly characters: number;
}

/** Returns the words of a tool, including the words of its server from `wordsOfServer`. */
export function wordsOfTool(tool: SearchableTool, ofServer: ReadonlyMap<string, number>): ToolWords {
  const weights: Weights = new Map(ofServer);
  const { names, texts } = parametersOf(tool.inputSchema);
  const fields: readonly (readonly [text: string, field: Field])[] = [
    [tool.name, nameField],
    [tool.title ?? "", titleField],
    [tool.description ?? "", descriptionField],
    [names.join(" "), parametersField],
    [texts.join(" "), parameterTextsField],
  ];
  let characters = 0;
  for (const [text, field] of fields) {
    const read = text.slice(0, longestText);
    add(weights, read, field);
    characters += read.length;
  }
  return { weights, characters };
}

function add(weights: Weights, text: string, { weight, usual, b }: Field): void {
  const words = searchWords(text);
  const share = weight / (1 - b + (b * words.length) / usual);
  for (const word of words) weights.set(word, (weights.get(word) ?? 0) + share);
}

const mostParameters = 100;

/**
 * The names and descriptions of the parameters. If a parameter is an object, also the names and descriptions of its
 * members.
 */
function parametersOf(schema: JsonObject | undefined): {
  readonly names: readonly string[];
  readonly texts: readonly string[];
} {
  const names: string[] = [];
  const texts: string[] = [];
  const open: unknown[] = [schema];
  for (let at = 0; at < open.length && at < mostParameters; at += 1) {
    const { description, properties, items } = objectOf(open[at]);
    if (typeof description === "string" && at > 0) texts.push(description);
    for (const [name, property] of Object.entries(objectOf(properties)).slice(0, mostParameters)) {
      names.push(name);
      open.push(property);
    }
    if (isObject(items)) open.push(items);
  }
  return { names, texts };
}
