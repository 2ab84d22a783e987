/** Rewrites shell commands in a text as slash commands: `fairlead mcp auth x` becomes `/mcp auth x`. */

const asSlash = /(?<![\w./@-])(?:npx --no -- )?fairlead (?=(?:mcp|tools|resources|prompts|policy|trust|history)\b)/g;

/** In the app, `/resume` lists the conversations. */
const asList = /(?<![\w./@-])(?:npx --no -- )?fairlead conversations\b/g;

/** Returns the text with commands that the user can type in the app. */
export function typedHere(text: string): string {
  return text.replaceAll(asSlash, "/").replaceAll(asList, "/resume");
}
