/** Counts what is odd but hurts nobody: a server may send millions of it, and a log should show a handful. */

/** @param kind What is counted together: never the server's own words, or the counts would grow without bound. */
export type Diagnose = (kind: string, text?: string) => void;

/** Tells of the first, the tenth, the hundredth of a kind. */
export function createDiagnostics(tell: (text: string) => void): Diagnose {
  const counts = new Map<string, number>();
  return (kind, text = kind) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (Number.isInteger(Math.log10(count))) tell(count === 1 ? text : `${text} (${count} times by now)`);
  };
}
