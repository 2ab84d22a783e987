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
 * less. `b` (0 to 1) says how strongly. Servers write the texts, so two bounds stop stuffed texts: `most` for a word
 * that is repeated, and `longest` for a field with very many words.
 */
interface Field {
  readonly weight: number;
  readonly usual: number;
  readonly b: number;
  /** However often a word occurs, it counts at most this many times `weight`. */
  readonly most: number;
  /** A field with more words than this counts no more than a field with this many words. */
  readonly longest: number;
}

const nameField: Field = { weight: 3, usual: 2.5, b: 0.35, most: 1.3, longest: 6 };
const serverField: Field = { weight: 2, usual: 2, b: 0.3, most: 4, longest: 20 };
const titleField: Field = { weight: 1, usual: 3, b: 0.3, most: 1.25, longest: 6 };
const descriptionField: Field = { weight: 1, usual: 20, b: 0.54, most: 3.5, longest: 60 };
const parametersField: Field = { weight: 1, usual: 4, b: 0.6, most: 2, longest: 16 };
const instructionsField: Field = { weight: 0.8, usual: 15, b: 0.63, most: 4, longest: 20 };
const parameterTextsField: Field = { weight: 0.22, usual: 13, b: 0.7, most: 4, longest: 40 };

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

function add(weights: Weights, text: string, { weight, usual, b, most, longest }: Field): void {
  const words = searchWords(text);
  const length = Math.min(words.length, longest);
  const share = ((weight / (1 - b + (b * length) / usual)) * length) / words.length;
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const [word, count] of counts)
    weights.set(word, (weights.get(word) ?? 0) + Math.min(count * share, most * weight));
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
