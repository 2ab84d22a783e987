/** The conversation as text: the last answer for `/copy`, the whole conversation as Markdown for `/export`. */

import type { CallCard, TranscriptItem } from "./transcript.ts";

/** Returns the model's last answer, or the result of a tool call after that answer. Undefined if there is neither. */
export function lastAnswer(items: readonly TranscriptItem[]): string | undefined {
  const end = items.findLastIndex(({ kind }) => kind === "answer" || kind === "call");
  const last = items[end];
  if (last?.kind === "call") return last.call.display ?? last.call.error?.message;
  if (last === undefined) return undefined;
  // A long answer is split into several items.
  const start = items.findLastIndex(({ kind }, at) => at < end && kind !== "answer") + 1;
  return textOf(items.slice(start, end + 1)).trim();
}

/** Returns the conversation as Markdown, or undefined if the user has sent no message. */
export function toMarkdown(items: readonly TranscriptItem[], model: string): string | undefined {
  const sections: string[] = [];
  for (const [at, item] of items.entries()) {
    if (item.kind === "person")
      sections.push(["## You", item.text, ...item.attachments.map((name) => `- ${name}`)].join("\n\n"));
    if (item.kind === "call") sections.push(callText(item.call));
    if (item.kind === "answer" && items[at - 1]?.kind !== "answer") {
      const next = items.findIndex(({ kind }, index) => index > at && kind !== "answer");
      sections.push(`## ${model}\n\n${textOf(items.slice(at, next === -1 ? undefined : next)).trim()}`);
    }
  }
  return items.some(({ kind }) => kind === "person") ? `# Conversation\n\n${sections.join("\n\n")}\n` : undefined;
}

function textOf(items: readonly TranscriptItem[]): string {
  return items.map((item) => (item.kind === "answer" ? item.text : "")).join("");
}

function callText({ server, tool, args, status, display = "", error, files }: CallCard): string {
  const name = server === undefined ? tool : `${server}.${tool}`;
  return [
    `### \`${name.replaceAll("`", "'").replaceAll(/\s+/g, " ")}\`: ${status}`,
    ...(Object.keys(args).length === 0 ? [] : [fenced(JSON.stringify(args, null, 2), "json")]),
    ...(error === undefined ? [] : [error.message]),
    ...(display === "" || display === error?.message ? [] : [fenced(display, "text")]),
    ...files.map((file) => `- saved in ${file}`),
  ].join("\n\n");
}

/** The code fence must be longer than any run of backticks in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}
