/** Finds the command in the command line. Global options may come before it. Suggests a command for a mistyped name. */

import { toShellWord } from "@fairlead/core/plain-text";
import { nameHint } from "./verb.ts";
import { type CommandRow, commandGroups, groupOf, verbs } from "./verbs.ts";

/** What a command line asks for. `argv` has the words without the command's name, but with the option `-p`. */
export type Resolution =
  | { readonly kind: "version" }
  | { readonly kind: "help"; readonly group?: string }
  | { readonly kind: "unknown"; readonly message: string; readonly next: string }
  | ({ readonly kind: "verb"; readonly argv: readonly string[] } & CommandRow);

/** Options of `fairlead -p` that the user may write before `-p`. */
const ofPrompt = [
  "--output-format",
  "--approval-mode",
  "--allow",
  "--servers",
  "-m",
  "--model",
  "--wait",
  "--max-turns",
];
const withValue = new Set(["-C", "--settings", "--record", "-p", "--prompt", ...ofPrompt]);

/** Groups that are also commands with an operand: `fairlead skills docs`. */
const withOperand = new Set(["skills"]);

/** The name of `fairlead -p` in the command table. */
const promptWord = "-p";

/** Finds the command that a command line names. Does not load the command. */
export function resolve(argv: readonly string[]): Resolution {
  const start = firstWord(argv);
  const globals = argv.slice(0, start);
  const first = argv[start];
  if (isPrompt(globals)) return forPrompt(argv, globals);
  if (first === undefined || first === "--") {
    if (globals.includes("--version") || globals.includes("-V")) return { kind: "version" };
    if (globals.includes("--help") || globals.includes("-h")) return { kind: "help" };
  }
  if (first === "help") return helpFor(argv.slice(start + 1));
  if (first !== undefined && commandGroups.has(first)) return inGroup(first, globals, argv.slice(start + 1));
  if (first !== undefined && isMessage(first)) return forApp(argv);
  const row = verbs.find((verb) => verb.words === (first ?? ""));
  if (row) return { kind: "verb", ...row, argv: [...globals, ...argv.slice(start + 1)] };
  return unknown(first ?? "", argv.slice(start + 1));
}

/** Whether the options include `-p` or `--prompt`. */
export function isPrompt(options: readonly string[]): boolean {
  return options.some((word) => /^-p|^--prompt(?:$|=)/.test(word));
}

/** Handles `fairlead -p`. In `fairlead -p --help`, "--help" asks for help and is not the prompt. */
function forPrompt(argv: readonly string[], globals: readonly string[]): Resolution {
  const row = verbs.find((verb) => verb.words === promptWord);
  const asksForHelp = globals.includes("--help") || globals.includes("-h");
  return row ? { kind: "verb", ...row, argv: asksForHelp ? ["--help"] : argv } : unknown(promptWord);
}

/**
 * Whether the word begins a message for the app, such as `fairlead "what is new?"`. No command contains a space. After
 * `--`, all words are the message.
 */
function isMessage(word: string): boolean {
  return word === "--" || /\s/.test(word.trim());
}

function forApp(argv: readonly string[]): Resolution {
  const row = verbs.find((verb) => verb.words === "");
  return row ? { kind: "verb", ...row, argv } : unknown("");
}

/** Finds a command of a group. Global options may come between the group and the command. */
function inGroup(group: string, globals: readonly string[], rest: readonly string[]): Resolution {
  const at = firstWord(rest);
  const between = rest.slice(0, at);
  const word = rest[at];
  if (word !== undefined && word !== "--") {
    // A group may contain groups: `team policy push`.
    if (commandGroups.has(`${group} ${word}`))
      return inGroup(`${group} ${word}`, [...globals, ...between], rest.slice(at + 1));
    const row = verbs.find((verb) => verb.words === `${group} ${word}`);
    if (row) return { kind: "verb", ...row, argv: [...globals, ...between, ...rest.slice(at + 1)] };
    if (!withOperand.has(group)) return unknown(`${group} ${word}`, rest.slice(at + 1));
  }
  // "lock" is both a group and a command.
  const own = verbs.find((verb) => verb.words === group);
  if (own) return { kind: "verb", ...own, argv: [...globals, ...rest] };
  const asksForHelp = between.includes("--help") || between.includes("-h");
  if (asksForHelp || (between.length === 0 && !globals.includes("--json"))) return { kind: "help", group };
  return { kind: "unknown", message: `a command is missing after "${group}"`, next: `fairlead ${group} --help` };
}

function helpFor(words: readonly string[]): Resolution {
  const [first] = words;
  if (first === undefined) return { kind: "help" };
  // `help errors` is a command of its own.
  const own = verbs.find((verb) => verb.words === `help ${first}`);
  if (own) return { kind: "verb", ...own, argv: words.slice(1) };
  return resolve([...words, "--help"]);
}

/** Words of other programs' command lines for words of Fairlead's. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ["ls", "list"],
  ["rm", "remove"],
  ["delete", "remove"],
  ["uninstall", "remove"],
  ["install", "add"],
]);

/** Returns the command that has this name, or a synonym of it, inside a group: `mcp list` for `ls`. */
function inSomeGroup(words: string): string | undefined {
  const [last = "", ...groups] = words.trim().split(" ").reverse();
  const word = synonyms.get(last) ?? last;
  const group = groups.reverse().join(" ");
  return verbs.find((verb) => (group === "" ? verb.words.endsWith(` ${word}`) : verb.words === `${group} ${word}`))
    ?.words;
}

/** `rest`: the words after the mistyped command. They are part of the next step, so that the user can copy it. */
function unknown(words: string, rest: readonly string[] = []): Resolution {
  const commands = [...verbs.map((verb) => verb.words), ...commandGroups.keys()].filter((word) => word !== "");
  const meant = inSomeGroup(words);
  const hint = meant === undefined ? nameHint(words.trim(), commands) : `; did you mean "${meant}"?`;
  const group = groupOf(words) === "" ? "" : ` ${groupOf(words)}`;
  return {
    kind: "unknown",
    message: `unknown command "${words.trim()}"${hint}`,
    next: meant === undefined ? `fairlead${group} --help` : ["fairlead", meant, ...rest.map(toShellWord)].join(" "),
  };
}

/**
 * Whether `next`, the word after `--resume`, is the id of a conversation. The word cannot be a command, because only
 * the app and `fairlead -p` have the option `--resume`.
 */
function isResume(option: string | undefined, next = "-"): boolean {
  return option === "--resume" && !next.startsWith("-");
}

/** Returns the index of the first word after global options and their values. */
export function firstWord(argv: readonly string[]): number {
  let at = 0;
  while (at < argv.length && argv[at]?.startsWith("-") && argv[at] !== "--")
    at += withValue.has(argv[at] ?? "") || isResume(argv[at], argv[at + 1]) ? 2 : 1;
  return at;
}
