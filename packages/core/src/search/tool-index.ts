/** Finds the tools whose texts contain the words of a query, and ranks these tools (BM25F with synonyms). */

import { createTurns, type Turns } from "../text/turns.ts";
import {
  queryWords,
  type SearchableServer,
  type SearchableTool,
  type WordGroup,
  wordsOfServer,
  wordsOfTool,
} from "./words.ts";

/** A tool that matches a query. A higher score means a better match. */
export interface RankedTool {
  readonly server: string;
  readonly tool: SearchableTool;
  readonly score: number;
}

/** For one word: the tools that contain it, by number, and the weight of the word in each tool. */
interface Posting {
  readonly tools: number[];
  readonly weights: number[];
}

interface IndexedServer {
  readonly server: SearchableServer;
  readonly tools: readonly SearchableTool[];
  /** The number of the server's first tool. The numbers of its other tools follow this number. */
  readonly first: number;
}

interface IndexState {
  readonly postings: Map<string, Posting>;
  readonly servers: Map<string, IndexedServer>;
  /** The tools by number. Undefined for a tool that was removed, and for a tool that is still being added. */
  readonly tools: (Omit<RankedTool, "score"> | undefined)[];
}

/** The parameter `k1` of BM25. If it is lower, a repeated word counts less. */
const saturation = 2;
/** The index is rebuilt when it contains this many more removed tools than current tools. */
const mostOutdated = 1000;
/** How many characters are indexed without a pause. This takes a few milliseconds, even if all words are new. */
const perSlice = 8_000;
/** Added to the number of characters of each tool, because even a tool with a short text takes time to index. */
const perTool = 100;

/** An index of tools for full-text search, in memory. Changes run one after another. */
export class ToolIndex {
  #state = emptyState();
  // Counts the indexed characters of all servers together, because many small servers take as long as one large server.
  readonly #turns = createTurns(perSlice);
  #last: Promise<void> = Promise.resolve();

  /**
   * Replaces the indexed tools of a server. Pauses regularly, so that other code can run. Searches find the previous
   * tools until the new tools are complete.
   */
  set(server: SearchableServer, tools: readonly SearchableTool[]): Promise<void> {
    return this.#afterLast(async () => {
      await addServer(this.#state, server, tools, this.#turns);
      await this.#removeOutdated();
    });
  }

  remove(server: string): Promise<void> {
    return this.#afterLast(() => removeServer(this.#state, server));
  }

  /** Returns the tools whose texts contain a word of the query or a synonym, best match first. */
  rank(query: string, most: number): readonly RankedTool[] {
    const { postings, tools } = this.#state;
    const count = liveCount(this.#state);
    const scores = new Float64Array(tools.length);
    for (const group of queryWords(query, postings)) addGroup(scores, group, postings, count);
    return bestOf(scores, tools, most);
  }

  #afterLast(change: () => void | Promise<void>): Promise<void> {
    const changed = this.#last.then(change);
    // Only the caller of the failed change gets its error. Later changes still run.
    this.#last = changed.catch(() => {});
    return changed;
  }

  async #removeOutdated(): Promise<void> {
    if (this.#state.tools.length <= 2 * liveCount(this.#state) + mostOutdated) return;
    const next = emptyState();
    for (const { server, tools } of this.#state.servers.values()) await addServer(next, server, tools, this.#turns);
    this.#state = next;
  }
}

/** Adds to each tool's score how well the tool matches one group of words. */
function addGroup(
  scores: Float64Array,
  { weights: words, most }: WordGroup,
  postings: IndexState["postings"],
  count: number,
): void {
  const matches = new Map<number, { sum: number; best: number }>();
  for (const [word, weight] of words) {
    const { tools, weights } = postings.get(word) ?? { tools: [], weights: [] };
    const rarity = Math.log(1 + Math.max(count - tools.length, 0.5) / (tools.length + 0.5));
    for (let at = 0; at < tools.length; at += 1) {
      const number = tools[at] ?? 0;
      const frequency = weights[at] ?? 0;
      const score = (weight * rarity * frequency) / (saturation + frequency);
      const match = matches.get(number);
      if (match === undefined) matches.set(number, { sum: score, best: score });
      else {
        match.sum += score;
        match.best = Math.max(match.best, score);
      }
    }
  }
  for (const [number, { sum, best }] of matches) scores[number] = (scores[number] ?? 0) + Math.min(sum, most * best);
}

function emptyState(): IndexState {
  return { postings: new Map(), servers: new Map(), tools: [] };
}

function liveCount({ servers }: IndexState): number {
  let count = 0;
  for (const { tools } of servers.values()) count += tools.length;
  return count;
}

async function addServer(
  state: IndexState,
  server: SearchableServer,
  tools: readonly SearchableTool[],
  turns: Turns,
): Promise<void> {
  const { postings, servers, tools: entries } = state;
  const ofServer = wordsOfServer(server);
  const first = entries.length;
  for (const [at, tool] of tools.entries()) {
    entries.push(undefined);
    const { weights, characters } = wordsOfTool(tool, ofServer);
    for (const [word, weight] of weights) {
      const posting = postings.get(word);
      if (posting === undefined) postings.set(word, { tools: [first + at], weights: [weight] });
      else {
        posting.tools.push(first + at);
        posting.weights.push(weight);
      }
    }
    await turns.done(characters + perTool);
  }
  removeServer(state, server.name);
  for (const [at, tool] of tools.entries()) entries[first + at] = { server: server.name, tool };
  servers.set(server.name, { server, tools, first });
}

function removeServer({ servers, tools: entries }: IndexState, name: string): void {
  const { tools, first } = servers.get(name) ?? { tools: [], first: 0 };
  entries.fill(undefined, first, first + tools.length);
  servers.delete(name);
}

/** The tools with the highest scores. Tools with equal scores keep their order. */
function bestOf(scores: Float64Array, entries: IndexState["tools"], most: number): readonly RankedTool[] {
  for (let number = 0; number < entries.length; number += 1) if (entries[number] === undefined) scores[number] = 0;
  const least = scores.toSorted().at(-most) ?? 0;
  const best: RankedTool[] = [];
  for (let number = 0; number < entries.length; number += 1) {
    const score = scores[number] ?? 0;
    const entry = entries[number];
    if (entry !== undefined && score > 0 && score >= least) best.push({ ...entry, score });
  }
  return best.sort((one, other) => other.score - one.score).slice(0, most);
}
