/** The prompts of a server as text: signatures, descriptions and arguments. */

import type { HostPrompt } from "@fairlead/core/host";
import { fold, toKey } from "@fairlead/core/normalise/schema/write/type-text";
import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { count, type Style } from "../output.ts";
import { fill } from "../wrap.ts";
import { descriptionLines, remarkLines } from "./description.ts";

interface ListOptions {
  readonly style: Style;
  readonly columns: number;
}

const mostArguments = 40;

export function promptsText(server: string, prompts: readonly HostPrompt[], options: ListOptions): SafeText {
  const title = safe`${options.style.bold(toVisibleLine(server))}: ${count(prompts.length, "prompt")}`;
  return joinSafe([title, ...prompts.map((prompt) => promptText(prompt, options))], safe`\n\n`);
}

function promptText(prompt: HostPrompt, { style, columns }: ListOptions): SafeText {
  const wanted = requiredFirst(prompt);
  const words = fold(wanted, mostArguments, ({ name, required }) => `${toKey(name)}${required ? "" : "?"}`);
  const last = words.length - 1;
  const [first = safe`)`, ...others] = words.map((word, at) => toVisibleLine(`${word}${at === last ? ")" : ","}`));
  const talk = [
    ...descriptionLines(prompt.description ?? prompt.title ?? "", { columns, all: false }),
    ...wanted.slice(0, mostArguments).flatMap(({ name, description }) => remarkLines(name, description, columns)),
  ];
  return joinSafe([
    ...fill([safe`${style.cyan(toVisibleLine(`/${prompt.name}`))}(${first}`, ...others], {
      columns,
      indent: safe`  `,
      hanging: safe`    `,
    }),
    ...talk.map((line) => style.dim(line)),
  ]);
}

type Callable = Pick<HostPrompt, "name" | "arguments">;

/** The words after `fairlead prompt`: required arguments, then optional ones in brackets. */
export function promptCommandUsage(prompt: Callable): string {
  const words = requiredFirst(prompt).map(({ name, required }) => {
    const word = `${toShellWord(`${name}=`)}…`;
    return required ? word : `[${word}]`;
  });
  return [toShellWord(prompt.name), ...words].join(" ");
}

/** The words after `fairlead prompt`, with sample values for the required arguments. */
export function examplePrompt({ name, arguments: wanted }: Callable): string {
  const words = wanted.flatMap((argument) => (argument.required ? [toShellWord(`${argument.name}=text`)] : []));
  return [toShellWord(name), ...words].join(" ");
}

function requiredFirst({ arguments: wanted }: Callable): HostPrompt["arguments"] {
  return [...wanted.filter(({ required }) => required), ...wanted.filter(({ required }) => !required)];
}
