/** Finds the complete paragraphs of an answer that is still growing, so that a long answer scrolls up as it arrives. Pure. */

/** A shorter answer is not split. */
const least = 400;

/** Index after the last complete paragraph; 0 if there is none. Never inside a code block or a list. */
export function finishedPart(text: string): number {
  if (text.length < least) return 0;
  let end = 0;
  let fence: string | undefined;
  let at = 0;
  for (const line of text.split("\n")) {
    const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) === true) fence = undefined;
    at += line.length + 1;
    const isGap = line.trim() === "" && at < text.length;
    // Indented text and list items belong to the paragraph above.
    if (isGap && fence === undefined && /^(?!\d+[.)] |[-*+] )[^\s]/.test(text.slice(at, at + 8))) end = at;
  }
  return end >= least ? end : 0;
}
