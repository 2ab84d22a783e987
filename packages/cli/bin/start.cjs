// Starts the command: answers --version and --help by itself, and loads the bundle for everything else.
"use strict";

/**
 * @param {{ build: string, version: string, help: string, commands: string[] }} answers
 * @param {(command: string) => (file: string) => any} loaderFor returns the function that loads files of the bundle for a command
 */
exports.start = function start({ version, help, commands }, loaderFor) {
  const words = process.argv.slice(2);
  const answer =
    words.length === 1 ? { "--version": version, "-V": version, "--help": help, "-h": help }[words[0]] : undefined;
  if (answer !== undefined && fits(answer)) return print(answer);
  const command = [words.slice(0, 2).join(" "), words[0]].find((name) => commands.includes(name)) || "app";
  const load = loaderFor(command);
  const run = (more = []) => {
    process.argv.push(...more);
    load("main.cjs").run();
  };
  // One process for each client: the relay must start without the rest of the command.
  if (command === "serve") load("relay.cjs").runServe(words.slice(1), run);
  else run();
};

/** Only the bundle can wrap a text to a narrow terminal. */
function fits(text) {
  const { isTTY, columns } = process.stdout;
  return !isTTY || text.split("\n").every((line) => line.length <= columns);
}

function print(text) {
  process.stdout
    .on("error", ({ code, message }) => {
      if (code === "EPIPE") process.exit(0);
      process.stderr.write(`fairlead: cannot write to stdout: ${message}\n`);
      process.exit(1);
    })
    .write(text);
}
