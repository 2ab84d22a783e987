/**
 * A model for tests that obeys: it makes the call in a line `call NAME {"a":1}`. It makes several calls at once, unless
 * a line `then` separates them.
 */

import type { Answering, Asked, Piece } from "./script.ts";

export const obedient: Answering = (asked) => {
  const calls = roundsIn(asked.said)[asked.rounds.length] ?? [];
  return { pieces: calls.length > 0 ? calls : [{ text: account(asked) }] };
};

function roundsIn(said: string): Piece[][] {
  const rounds: Piece[][] = [[]];
  for (const line of said.split("\n").map((each) => each.trim())) {
    const [, name, args = "{}"] = /^call\s+(\S+)(?:\s+(\{.*\}))?$/.exec(line) ?? [];
    if (line === "then") rounds.push([]);
    else if (name !== undefined) rounds.at(-1)?.push(toCall(name, args));
  }
  return rounds.filter((calls) => calls.length > 0);
}

function toCall(name: string, args: string): Piece {
  try {
    return { call: name, args: JSON.parse(args) as Record<string, unknown> };
  } catch {
    return { text: `These arguments of ${name} are not JSON: ${args}` };
  }
}

/** Returns the text when no call is left: the result of each call, or else the functions that it could have called. */
function account({ rounds, said, tools }: Asked): string {
  const results = rounds.flat();
  if (results.length === 0) return `You said: ${said}\nI can call: ${tools.join(", ") || "nothing"}`;
  return results
    .map(({ name, result, media }) => {
      const text = typeof result === "string" ? result : JSON.stringify(result);
      return [`${name}: ${text}`, ...media.map((type) => `and ${type}`)].join(" ");
    })
    .join("\n");
}
