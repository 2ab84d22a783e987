/** Rewrites shell commands in a text as slash commands: `fairlead mcp auth x` becomes `/mcp auth x`. Pure. */

const asSlash = /(?<![\w./@-])(?:npx )?fairlead (?=(?:mcp|tools|resources|prompts|policy|trust|history)\b)/g;

export function typedHere(text: string): string {
  return text.replaceAll(asSlash, "/");
}
