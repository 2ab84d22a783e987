/** A real shell on a real pseudo-terminal, with completion installed as a person would, and a `fairlead` that shows its words. */

import { execFileSync, spawnSync } from "node:child_process";
import { watch } from "node:fs";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Shell, shells } from "../../src/completion/scripts.ts";
import type { Machine } from "./machine.ts";
import { program } from "./process.ts";
import { openProgram } from "./terminal.ts";

/** Those that this machine has. */
export const present: ReadonlySet<Shell> = new Set(
  shells.filter((shell) => spawnSync(shell, ["--version"]).status === 0),
);

export interface OpenShell extends AsyncDisposable {
  /** Types it, presses Tab and then Enter, and gives the words that the command got. */
  readonly complete: (typed: string) => Promise<readonly string[]>;
  /** Types it and presses Tab; gives the screen once the pattern is on it. */
  readonly list: (typed: string, pattern: RegExp) => Promise<string>;
}

/** Everything but a Tab is only shown: what is completed here is never run. */
const command = (tab: string): string => `#!/bin/sh
if [ "$1" = __complete ]; then ${tab}; fi
for word; do printf '<%s>\\n' "$word"; done
`;

/** Who answers a Tab: the built command, or to save its start the same code in this process. */
export type Answerer = "the command" | "this process";

const byCommand = `exec "${process.execPath}" "${program}" "$@"`;

interface Answering extends AsyncDisposable {
  /** What a shell runs to be answered. */
  readonly tab: string;
}

/**
 * The shell writes each question to a file in a folder, and reads the answer from a pipe. One pipe is enough, because only
 * one shell asks at a time.
 */
async function byThisProcess(here: Machine): Promise<Answering> {
  const folder = join(here.path, "tabs");
  const pipe = join(here.path, "tab-answers");
  await mkdir(folder);
  execFileSync("mkfifo", [pipe]);
  const end = "end of the question";
  const answered = new Set<string>();
  const answers: Promise<void>[] = [];
  const watcher = watch(folder, (_, name) => {
    if (name !== null) answers.push(answer(name));
  });

  /** Called when the file of a question is created and after each write. A question is complete when it ends with `end`. */
  async function answer(question: string): Promise<void> {
    const written = await readFile(join(folder, question), "utf8");
    if (!written.endsWith(`\0${end}\0`) || answered.has(question)) return;
    answered.add(question);
    const { stdout } = await here.run(...written.split("\0").slice(0, -2));
    await writeFile(pipe, stdout);
  }

  return {
    // Only commands that the shell has built in, up to the one process that reads the answer.
    tab: `printf '%s\\0' "$@" "${end}" >"${folder}/$$" && exec cat "${pipe}"`,
    async [Symbol.asyncDispose]() {
      watcher.close();
      await Promise.all(answers);
    },
  };
}

/** What a person's own startup file may say; installing leaves it as it is. */
const startup: Readonly<Record<Shell, readonly [file: string, text: string]>> = {
  bash: [
    "home/.bashrc",
    `PS1='ready>'
bind 'set bell-style none'
bind 'set show-all-if-ambiguous on'
bind 'set enable-bracketed-paste off'
source ~/.local/share/bash-completion/completions/fairlead
`,
  ],
  zsh: ["home/.zshrc", "PROMPT='ready>'\nunsetopt beep list_ambiguous auto_menu\nunset zle_bracketed_paste\n"],
  fish: [
    "home/.config/fish/config.fish",
    "function fish_prompt; printf 'ready>'; end\nset -g fish_greeting\nset -g fish_autosuggestion_enabled 0\n",
  ],
};

const flags: Readonly<Record<Shell, readonly string[]>> = {
  bash: ["--noprofile"],
  // The system's own startup files are left out: they differ.
  zsh: ["-d"],
  fish: [],
};

/** All shells that there are, each open once, on one machine whose servers may change meanwhile. */
export interface Shells extends AsyncDisposable {
  readonly of: (shell: Shell) => OpenShell;
  readonly answeredBy: (answerer: Answerer) => Promise<void>;
}

export async function openShells(here: Machine): Promise<Shells> {
  const answering = await byThisProcess(here);
  const answeredBy = async (answerer: Answerer): Promise<void> => {
    const file = await here.write(
      "installed/fairlead",
      command(answerer === "the command" ? byCommand : answering.tab),
    );
    await chmod(file, 0o755);
  };
  await answeredBy("this process");
  const open = new Map<Shell, OpenShell>();
  for (const shell of present) open.set(shell, await openShell(shell, here));
  return {
    of(shell) {
      const found = open.get(shell);
      if (found === undefined) throw new Error(`${shell} is not open`);
      return found;
    },
    answeredBy,
    async [Symbol.asyncDispose]() {
      for (const shell of open.values()) await shell[Symbol.asyncDispose]();
      await answering[Symbol.asyncDispose]();
    },
  };
}

async function openShell(shell: Shell, here: Machine): Promise<OpenShell> {
  await here.write(...startup[shell]);
  // Without this folder, fish starts Python in the background, which reads all manual pages of the machine.
  if (shell === "fish")
    await mkdir(join(here.path, "home/.local/share/fish/generated_completions"), { recursive: true });
  const { code, stderr } = await here.run("completion", shell, "install", "--yes");
  if (code !== 0) throw new Error(stderr);
  const terminal = openProgram({ ...here, env: { ...here.env, LC_ALL: "C.UTF-8" } }, shell, ...flags[shell], "-i");
  await terminal.until(/ready>$/);
  let sent = 0;

  /** Control characters would mean something else while the shell is between two lines: a line is always sent. */
  async function send(): Promise<string> {
    sent += 1;
    terminal.type(`\recho sent ${sent}\r`);
    return terminal.until(new RegExp(`^sent ${sent}\nready>$`, "m"));
  }

  return {
    async complete(typed) {
      const before = terminal.screen().length;
      terminal.type(`${typed}\t`);
      const screen = await send();
      return [...screen.slice(before).matchAll(/^<(.*)>$/gm)].map(([, word = ""]) => word);
    },
    async list(typed, pattern) {
      terminal.type(`${typed}\t`);
      const screen = await terminal.until(pattern);
      await send();
      return screen;
    },
    async [Symbol.asyncDispose]() {
      terminal.type("exit\r");
      await terminal.exitCode;
      await terminal[Symbol.asyncDispose]();
    },
  };
}
