// The help of every command, as the built command prints it. For docs/commands.md and the man page.
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";

const { main } = createRequire(import.meta.url)("../packages/cli/bundle/main.cjs");

/** Returns what the command prints on stdout. */
export async function outputOf(...words) {
  const chunks = [];
  const stdout = new Writable({ write: (chunk, _, done) => done(void chunks.push(chunk)) });
  const stderr = new Writable({ write: (_chunk, _, done) => done() });
  const { signal } = new AbortController();
  const { platform } = process;
  const code = await main(words, {
    stdin: Readable.from([]),
    stdout,
    stderr,
    env: {},
    cwd: "/",
    home: "/",
    platform,
    signal,
  });
  if (code !== 0) throw new Error(`fairlead ${words.join(" ")} exits with ${code}`);
  return Buffer.concat(chunks).toString();
}

/** Returns the overview of `fairlead --help`, and the help of each command that it names. */
export async function commandHelp() {
  const overview = await outputOf("--help");
  const commands = [];
  for (const [, name] of overview.matchAll(/^ {2}fairlead (\S+(?: \S+)*) {2,}/gm))
    commands.push({ name, help: await outputOf(...name.split(" "), "--help") });
  return { overview, commands };
}

/** The options that every command has. They are shown only once. */
export const globalOptions = /Global options:\n(?: .*\n)+\n/;
