/** What was typed before, and how one walks through it. Pure. */

export interface InputHistory {
  /** The oldest first. */
  readonly entries: readonly string[];
  /** Which of them is shown; behind the last: none. */
  readonly at: number;
  /** What was being typed before one began to walk. */
  readonly draft: string;
}

export interface HistoryStep {
  readonly history: InputHistory;
  readonly text: string;
}

const mostEntries = 1000;

export function createHistory(entries: readonly string[]): InputHistory {
  const kept = entries.slice(-mostEntries);
  return { entries: kept, at: kept.length, draft: "" };
}

/** What was typed twice in a row is one entry. */
export function addEntry({ entries }: InputHistory, text: string): InputHistory {
  return createHistory(entries.at(-1) === text ? entries : [...entries, text]);
}

/** Undefined: there is nothing older. */
export function older(history: InputHistory, current: string): HistoryStep | undefined {
  const { entries, at } = history;
  const text = entries[at - 1];
  if (text === undefined) return undefined;
  const draft = at === entries.length ? current : history.draft;
  return { history: { entries, at: at - 1, draft }, text };
}

export function newer({ entries, at, draft }: InputHistory): HistoryStep | undefined {
  if (at >= entries.length) return undefined;
  return { history: { entries, at: at + 1, draft }, text: entries[at + 1] ?? draft };
}
