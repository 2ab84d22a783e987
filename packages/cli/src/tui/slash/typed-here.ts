/** Commands of ours that are spoken of, as they are typed here: `fairlead mcp auth x` is `/mcp auth x`. Pure. */

const asSlash = /(?<![\w./@-])(?:npx )?fairlead (?=(?:mcp|tools|resources|prompts|policy|trust|history)\b)/g;

export function typedHere(text: string): string {
  return text.replaceAll(asSlash, "/");
}
