/** Rewrites shell commands in a text as slash commands: `fairlead mcp auth x` becomes `/mcp auth x`. Pure functions. */

const asSlash = /(?<![\w./@-])(?:npx )?fairlead (?=(?:mcp|tools|resources|prompts|policy|trust|history)\b)/g;

/** Matches the shell command that lists conversations. In the app, `/resume` shows that list. */
const asList = /(?<![\w./@-])(?:npx )?fairlead conversations\b/g;

export function typedHere(text: string): string {
  return text.replaceAll(asSlash, "/").replaceAll(asList, "/resume");
}
