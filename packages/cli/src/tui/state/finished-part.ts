/** How much of an answer that goes on can be taken for finished: whole paragraphs, so that a long one scrolls up as it comes. Pure. */

/** What is shorter stays in one piece. */
const least = 400;

/** Where the next paragraph begins; 0: nowhere yet. Never inside a code block, nor before what belongs to the paragraph above. */
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
    // What is indented, or an item of a list, goes on with what stands above.
    if (isGap && fence === undefined && /^(?!\d+[.)] |[-*+] )[^\s]/.test(text.slice(at, at + 8))) end = at;
  }
  return end >= least ? end : 0;
}
