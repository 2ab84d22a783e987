/** Asks the inputs of a server on the terminal. */

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, resolve, sep } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { checkAnswer, type InputAnswers, type InputQuestion } from "@fairlead/registry/registry/inputs";
import { askHiddenOrEnd, askLineOrEnd, canAsk } from "../../../shell/prompt.ts";
import type { Context, Io } from "../../../shell/verb.ts";

/** `--input NAME=VALUE`, several times for several values. */
export function readInputs(
  words: readonly string[],
  questions: readonly InputQuestion[],
  io: Pick<Io, "home" | "cwd">,
): InputAnswers {
  const files = new Set(questions.flatMap(({ kind, name }) => (kind === "file" ? [name] : [])));
  const answers = new Map<string, string[]>();
  for (const word of words) {
    const at = word.indexOf("=");
    if (at <= 0)
      throw new HostError("usage", `--input "${word}" is not of the form NAME=VALUE`, {
        next: "fairlead mcp add --help",
      });
    const [name, value] = [word.slice(0, at), word.slice(at + 1)];
    answers.set(name, [...(answers.get(name) ?? []), files.has(name) ? filePath(value, io) : value]);
  }
  return answers;
}

/** Asks what is required and not given. Without a terminal, returns what is given. */
export async function askInputs(
  questions: readonly InputQuestion[],
  given: InputAnswers,
  context: Context,
): Promise<InputAnswers> {
  const answers = new Map(given);
  if (!canAsk(context.io) || context.globals.json) return answers;
  for (const question of questions)
    if (question.isRequired && !answers.has(question.name))
      answers.set(question.name, await askInput(question, context));
  return answers;
}

async function askInput(question: InputQuestion, context: Context): Promise<readonly string[]> {
  const { name, description, choices, default: usual, isRepeated } = question;
  const about = description === undefined ? safe`` : safe` (${toVisibleLine(description)})`;
  if (question.kind === "choice") {
    const chosen = await chooseFrom(
      safe`${toVisibleLine(name)}${about}`,
      choices.map(toVisibleLine),
      Math.max(0, choices.indexOf(usual ?? "")),
      context,
    );
    return [choices[chosen] ?? ""];
  }
  const answers: string[] = [];
  for (;;) {
    const hint = hintOf(question, answers.length);
    const answer = await askOne(question, safe`${toVisibleLine(name)}${about}${hint}: `, context.io);
    if (answer === "" && answers.length > 0) return answers;
    if (answer === "" && usual !== undefined) return [usual];
    const isThere = question.kind !== "file" || answer === "" || existsSync(answer);
    if (!isThere) context.out.warn(safe`there is no ${toVisibleLine(answer)}`);
    const isFit = answer !== "" && isThere && fits(question, answer, context);
    if (isFit) answers.push(answer);
    if (isFit && !isRepeated) return answers;
  }
}

function hintOf({ kind, isSecret, default: usual, placeholder }: InputQuestion, count: number): SafeText {
  if (isSecret) return safe` (not shown)`;
  if (count > 0) return safe` (another one, or Enter)`;
  if (usual !== undefined) return safe` [${toVisibleLine(usual)}]`;
  if (kind === "boolean") return safe` [true/false]`;
  return placeholder === undefined ? safe`` : safe` (such as ${toVisibleLine(placeholder)})`;
}

/** @throws HostError `cancelled` at the end of input */
async function askOne({ kind, isSecret }: InputQuestion, text: SafeText, io: Io): Promise<string> {
  const answer = isSecret
    ? await askHiddenOrEnd(io, text)
    : await askLineOrEnd(io, text, kind === "file" ? (typed) => completePath(typed, io) : undefined);
  if (answer === undefined) throw new HostError("cancelled", "cancelled; nothing was changed");
  const typed = isSecret ? answer : answer.trim();
  return kind === "file" && typed !== "" ? filePath(typed, io) : typed;
}

function fits(question: InputQuestion, answer: string, { out }: Context): boolean {
  try {
    checkAnswer(question, answer);
    return true;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    out.warn(toSafeLine(error.message));
    return false;
  }
}

/** Shows numbered lines and asks for a number. Enter means the line at `usual`. Returns the position of the chosen line. */
export async function chooseFrom(
  question: SafeText,
  lines: readonly SafeText[],
  usual: number,
  { io, out }: Context,
): Promise<number> {
  out.exactly(joinSafe([question, ...lines.map((line, at) => safe`  ${at + 1}  ${line}`)]));
  for (;;) {
    const answer = await askLineOrEnd(io, safe`1 to ${lines.length} [${usual + 1}]: `);
    if (answer === undefined) throw new HostError("cancelled", "cancelled; nothing was changed");
    const typed = answer.trim();
    const at = typed === "" ? usual : /^\d+$/.test(typed) ? Number(typed) - 1 : lines.map(String).indexOf(typed);
    if (at >= 0 && at < lines.length) return at;
  }
}

/** A path as the user typed it, as an absolute path: a server starts in another folder. */
function filePath(typed: string, { home, cwd }: Pick<Io, "home" | "cwd">): string {
  return typed === "~" || typed.startsWith(`~${sep}`) ? resolve(home, typed.slice(2)) : resolve(cwd, typed);
}

/** Completes the last part of a path. */
async function completePath(typed: string, io: Io): Promise<readonly string[]> {
  const isFolder = typed === "" || typed.endsWith(sep);
  const path = filePath(typed, io);
  const folder = isFolder ? path : dirname(path);
  const begin = isFolder ? "" : basename(path);
  const kept = isFolder ? typed : typed.slice(0, typed.length - begin.length);
  const files = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return files
    .filter(({ name }) => name.startsWith(begin) && toVisibleLine(name) === name)
    .map((file) => `${kept}${file.name}${file.isDirectory() ? sep : ""}`)
    .slice(0, 100);
}
