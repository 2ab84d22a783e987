/** Limits how often the same diagnostic is reported, because a server may cause millions of them. */

/**
 * Reports a diagnostic. Diagnostics of the same `kind` are counted together. A kind must not contain a server's text,
 * because each new kind takes memory.
 */
export type Diagnose = (kind: string, text?: string) => void;

/** Returns a function that reports only the 1st, 10th, 100th (and so on) diagnostic of each kind. */
export function createDiagnostics(tell: (text: string) => void): Diagnose {
  const counts = new Map<string, number>();
  return (kind, text = kind) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (Number.isInteger(Math.log10(count))) tell(count === 1 ? text : `${text} (${count} times by now)`);
  };
}
