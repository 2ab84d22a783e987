/** From words to a verb: global options may stand before it, typing mistakes get a suggestion. */

import { closest } from "@fairlead/core/text/closest";
import { type CommandRow, commandGroups, verbs } from "./verbs.ts";

export type Resolution =
  | { readonly kind: "version" }
  | { readonly kind: "help"; readonly group?: string }
  | { readonly kind: "unknown"; readonly message: string; readonly next: string }
  | ({ readonly kind: "verb"; readonly argv: readonly string[] } & CommandRow);

/** Options of `-p`, which may stand before it. */
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
const withValue = new Set(["-C", "--settings", "-p", "--prompt", ...ofPrompt]);

/** Of its row in the table. */
const promptWord = "-p";

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
  const row = verbs.find((verb) => verb.words === (first ?? ""));
  if (row) return { kind: "verb", ...row, argv: [...globals, ...argv.slice(start + 1)] };
  return unknown(first ?? "");
}

/** Whether these options make a conversation of it. */
export function isPrompt(options: readonly string[]): boolean {
  return options.some((word) => /^-p|^--prompt(?:$|=)/.test(word));
}

/** Here help is not the prompt, although it stands where that would. */
function forPrompt(argv: readonly string[], globals: readonly string[]): Resolution {
  const row = verbs.find((verb) => verb.words === promptWord);
  const asksForHelp = globals.includes("--help") || globals.includes("-h");
  return row ? { kind: "verb", ...row, argv: asksForHelp ? ["--help"] : argv } : unknown(promptWord);
}

/** Global options may stand between the group and the command too. */
function inGroup(group: string, globals: readonly string[], rest: readonly string[]): Resolution {
  const at = firstWord(rest);
  const between = rest.slice(0, at);
  const word = rest[at];
  if (word !== undefined && word !== "--") {
    const row = verbs.find((verb) => verb.words === `${group} ${word}`);
    return row
      ? { kind: "verb", ...row, argv: [...globals, ...between, ...rest.slice(at + 1)] }
      : unknown(`${group} ${word}`);
  }
  // A group may be a command itself, as "lock" is.
  const own = verbs.find((verb) => verb.words === group);
  if (own) return { kind: "verb", ...own, argv: [...globals, ...rest] };
  const asksForHelp = between.includes("--help") || between.includes("-h");
  if (asksForHelp || (between.length === 0 && !globals.includes("--json"))) return { kind: "help", group };
  return { kind: "unknown", message: `which command of "${group}"?`, next: `fairlead ${group} --help` };
}

function helpFor(words: readonly string[]): Resolution {
  const [first] = words;
  if (first === undefined) return { kind: "help" };
  // `help errors CODE` and the like are verbs of their own.
  const own = verbs.find((verb) => verb.words === `help ${first}`);
  if (own) return { kind: "verb", ...own, argv: words.slice(1) };
  return resolve([...words, "--help"]);
}

function unknown(words: string): Resolution {
  const near = closest(words.trim(), [...verbs.map((verb) => verb.words), ...commandGroups.keys()]);
  const group = commandGroups.has(words.split(" ")[0] ?? "") ? ` ${words.split(" ")[0]}` : "";
  return {
    kind: "unknown",
    message: `there is no command "${words.trim()}"${near ? `; did you mean "${near}"?` : ""}`,
    next: `fairlead${group} --help`,
  };
}

/** Where the verb begins, past global options and their values. */
export function firstWord(argv: readonly string[]): number {
  let at = 0;
  while (at < argv.length && argv[at]?.startsWith("-") && argv[at] !== "--")
    at += withValue.has(argv[at] ?? "") ? 2 : 1;
  return at;
}
