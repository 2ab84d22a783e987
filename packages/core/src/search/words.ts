/** Splits names, descriptions and queries into the words that the search compares. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, objectOf } from "@fairlead/wire/json";
import { stemmer } from "stemmer";

/**
 * Frequent words that say nothing about a tool, including words that people often use in requests, such as "please".
 */
const stopWords = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can could
  did do does doing down during each etc few for from further had has have having he help her here hers him his how i if in
  into is it its itself just let like me more most mcp my need no nor not now of off on once only or other our out over own
  please provide provided provides s same server servers shall she should so some such t than that the their them then there these they this
  those through to too tool tools under until up us use used using very via want was we well were what when where which while who
  whom why will with within without would you your`.split(/\s+/),
);

/**
 * Chinese, Japanese and Korean characters. Their languages write no spaces between words, so each pair of neighbouring
 * characters counts as a word.
 */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;
const word = /[\p{L}\p{M}]+|\p{N}+/gu;

/** The stems of words. Cached, because most words occur in many tools. */
const stems = new Map<string, string>();
const mostStems = 50_000;
const longestWord = 40;

/** The stem of a word in lower case: `creating` and `creates` become `creat`. */
function stemOf(text: string): string {
  const cached = stems.get(text);
  if (cached !== undefined) return cached;
  const stem = /^[a-z]+$/.test(text) ? stemmer(text) : text;
  if (stems.size >= mostStems) stems.clear();
  stems.set(text, stem);
  return stem;
}

/**
 * The words of a text, in order, as stems. `getWeReadRank`, `get_we_read_rank` and `get we-read rank` contain the same
 * words.
 */
export function searchWords(text: string): readonly string[] {
  const plain = text
    .normalize("NFKC")
    .replaceAll(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 ")
    .replaceAll(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1 ")
    .toLowerCase();
  const words: string[] = [];
  const spaced = plain.replaceAll(unspaced, (run) => {
    for (const pair of pairsOf(run)) words.push(pair);
    return " ";
  });
  for (const [each] of spaced.replaceAll(/['’]s?\b/g, " ").matchAll(word))
    if (each.length <= longestWord && !stopWords.has(each)) words.push(stemOf(each));
  return words;
}

function pairsOf(run: string): readonly string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

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

/**
 * Returns the words of a tool, including the words of its server from `wordsOfServer`, each with its weight, and how many
 * characters of the tool's texts were split into words.
 */
export function wordsOfTool(
  tool: SearchableTool,
  ofServer: ReadonlyMap<string, number>,
): { readonly weights: ReadonlyMap<string, number>; readonly characters: number } {
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

/** Words that stand for the same word of a query. */
export interface WordGroup {
  /** The words, each with its weight in the ranking. */
  readonly weights: ReadonlyMap<string, number>;
  /**
   * All words that a tool contains count together at most this many times as much as the best of them. Otherwise a tool
   * could win by listing many synonyms.
   */
  readonly most: number;
}

const synonymWeight = 0.3;
const mostOfSynonyms = 2.5;
const longestQuery = 2000;
const mostWords = 64;

/** In a query of at least this many words, the words in URLs and paths count as much as the other words. */
const longQuery = 12;

/** Returns the words to search for. `toolWords` contains all words of the indexed tools. */
export function queryWords(query: string, toolWords: ReadonlyMap<string, unknown>): readonly WordGroup[] {
  const text = query.slice(0, longestQuery);
  const read = searchWords(withoutValues(text)).slice(0, mostWords);
  const taken = new Set<string>();

  /** Each word belongs to one group only. */
  function groupOf(words: Iterable<string>, weight: number, most = 1): WordGroup {
    const weights = new Map<string, number>();
    for (const word of words) if (!taken.has(word)) weights.set(word, weight);
    for (const word of weights.keys()) taken.add(word);
    return { weights, most };
  }

  const asked = read.map((word) => groupOf(toolWords.has(word) ? [word] : respelled(word, toolWords), 1));
  const words = [...taken];
  const values = searchWords(text)
    .slice(0, mostWords)
    .filter((word) => toolWords.has(word));
  /*
   * In a short query, words in URLs and paths weigh less. Otherwise they would outweigh the words that describe the
   * task.
   */
  const valueWeight = Math.min(1, read.length / longQuery);
  const ofValues = (): readonly WordGroup[] => values.map((word) => groupOf([word], valueWeight));
  const ofSynonyms = (): readonly WordGroup[] =>
    words.map((word) => groupOf(synonymsOf(word), synonymWeight, mostOfSynonyms));
  // A word that is a value and a synonym counts as what weighs more.
  const others = valueWeight > synonymWeight ? [ofValues, ofSynonyms] : [ofSynonyms, ofValues];
  return [...asked, ...others.flatMap((groups) => groups())].filter(({ weights }) => weights.size > 0);
}

/**
 * Replaces each URL by `url`, and `/tmp/a.csv` by `file .csv`. The words inside a URL or path say little about the
 * tool.
 */
function withoutValues(query: string): string {
  return query
    .replaceAll(/\b[a-z]+:\/\/\S+/gi, " url ")
    .replaceAll(
      /(?<![\w/])(?:~|\.{1,2})?\/[\w/-]+((?:\.\w+)*)/g,
      (_path, extensions: string) => ` file ${extensions} `,
    );
}

const shortestMisspelt = 5;

/** Returns the word, and the known words with the same first letter that differ from it by one letter. */
function respelled(word: string, toolWords: ReadonlyMap<string, unknown>): readonly string[] {
  if (word.length < shortestMisspelt) return [word];
  const near: string[] = [word];
  const first = word.charCodeAt(0);
  for (const other of toolWords.keys())
    if (other.charCodeAt(0) === first && differsByOne(word, other)) near.push(other);
  return near;
}

/** Whether two words differ by one letter, or by two neighbouring letters that are exchanged. */
function differsByOne(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const rest = (text: string, skipped: number): string => text.slice(at + skipped);
  return (
    rest(one, 1) === rest(other, 1) ||
    rest(one, 1) === rest(other, 0) ||
    rest(one, 0) === rest(other, 1) ||
    (one[at] === other[at + 1] && one[at + 1] === other[at] && rest(one, 2) === rest(other, 2))
  );
}

const groups = `
  add append attach insert
  address location place position
  alert notify notification remind reminder warn
  analyze analysis analyse examine inspect evaluate assess
  animate animation video clip movie film
  answer reply respond response
  app application program software
  archive compress zip
  article post blog news story headline
  ask question query
  audio sound voice speech music song
  book novel literature reading
  browse browser web page website site webpage url link
  build compile make
  buy purchase shop shopping order product
  calculate compute calculation math arithmetic evaluate
  calendar schedule event appointment meeting agenda
  cancel abort stop terminate kill
  change modify update edit alter set
  chart graph plot diagram visualize visualization visualise draw
  chat message conversation talk
  check verify validate test confirm
  choose select pick
  clean clear purge
  click press tap
  code source programming script snippet
  combine merge join concatenate
  company business firm corporation enterprise
  compare difference diff
  convert transform translate export
  copy duplicate clone
  count number total sum statistics statistic
  create generate make new produce write build compose
  crypto cryptocurrency bitcoin coin token
  currency money exchange rate
  database sql table db
  date time day today now
  delete remove erase drop destroy
  directory folder
  discover find search lookup locate
  doc document documentation file word report
  download fetch save
  email mail inbox
  execute run launch start invoke perform
  extract parse scrape
  fetch get retrieve obtain read load collect gather
  find search seek lookup look
  flight airline plane airport
  food recipe meal dish cook cooking restaurant
  forecast weather temperature rain climate
  format style font layout
  game play
  health medical medicine disease patient clinical drug
  hotel accommodation stay booking lodging
  image picture photo photograph screenshot figure
  info information detail details data metadata fact
  issue bug ticket problem
  job career employment hiring work
  keyword tag label category
  language translate translation
  law legal
  list show display enumerate all view
  market stock finance financial share equity invest investment trading
  movie film cinema
  open launch
  paper research academic publication scholar study arxiv
  paragraph text passage sentence
  password credential secret login
  people person user member contact
  popular trend trending hot top rank ranking best
  price cost quote
  rename move
  repository repo git github project
  review rating feedback comment
  route direction navigate navigation path distance map
  sheet spreadsheet excel workbook
  slide presentation powerpoint ppt
  sport football basketball match score
  store save keep put persist write output
  student teacher school course lesson learn education
  summarize summary abstract overview digest
  task todo
  terminal shell command console bash
  train railway ticket
  transfer send share upload submit publish
  travel trip journey tour tourism vacation
  video youtube stream watch
  wiki wikipedia encyclopedia
`;

const byStem = new Map<string, Set<string>>();
for (const line of groups.trim().split("\n")) {
  const stems = line.trim().split(" ").map(stemOf);
  for (const stem of stems) {
    const others = byStem.get(stem) ?? new Set();
    for (const other of stems) if (other !== stem) others.add(other);
    byStem.set(stem, others);
  }
}

const none: ReadonlySet<string> = new Set();

/** The stems that have the same meaning as this stem. */
function synonymsOf(stem: string): ReadonlySet<string> {
  return byStem.get(stem) ?? none;
}
