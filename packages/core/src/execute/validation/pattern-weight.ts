/**
 * Estimates the program size of a pattern before it is compiled: a linear engine takes that many steps per character.
 */

const counted = /^\{(\d+)(,?)(\d*)\}/;

/** Returns an upper estimate. A malformed pattern gets any number and is rejected later. */
export function patternWeight(pattern: string): number {
  // One total for each open group, and the weight of its last item, which a repeat count multiplies.
  const totals = [0];
  let last = 0;
  const add = (weight: number): void => {
    last = weight;
    totals.push((totals.pop() ?? 0) + weight);
  };
  for (let at = 0; at < pattern.length; at += 1) {
    const rest = pattern.slice(at, at + 16);
    const repeat = counted.exec(rest);
    if (repeat !== null) {
      const least = Number(repeat[1]);
      const most = repeat[2] === "" ? least : Number(repeat[3] || least + 1);
      // Each optional repetition adds a fork.
      add(last * Math.max(0, most - 1) + Math.max(0, most - least));
      at += repeat[0].length - 1;
    } else if (rest[0] === "(") totals.push(0);
    else if (rest[0] === ")" && totals.length > 1) add((totals.pop() ?? 0) + 2);
    else if (rest[0] === "[") {
      const end = classEnd(pattern, at);
      add(2);
      at = end;
    } else {
      add(1);
      if (rest[0] === "\\") at += 1;
    }
  }
  return totals.reduce((sum, total) => sum + total, 1);
}

function classEnd(pattern: string, start: number): number {
  let at = start + 1;
  while (at < pattern.length && pattern[at] !== "]") at += pattern[at] === "\\" ? 2 : 1;
  return at;
}
