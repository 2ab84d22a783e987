// Lets a program run as its own process, or as one of many in one process (`shared-host.mjs`).
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * @typedef {object} Io
 * @property {readonly string[]} args
 * @property {import("node:stream").Readable} input
 * @property {import("node:stream").Writable} output
 */

/**
 * Runs `serve` if the file is the program that was started.
 * @param {string} file The `import.meta.url` of the program.
 * @param {(io: Io) => void} serve
 */
export function runIfMain(file, serve) {
  if (process.argv[1] === fileURLToPath(file))
    serve({ args: process.argv.slice(2), input: process.stdin, output: process.stdout });
}

/**
 * Hands every line of the input to `take`. What it throws ends this server: its process, or in the shared process its connection alone.
 * @param {Pick<Io, "input" | "output">} io
 * @param {(line: string) => void} take
 */
export function onLine({ input, output }, take) {
  const lines = createInterface({ input }).on("line", (line) => {
    try {
      take(line);
    } catch (error) {
      if (input === process.stdin) throw error;
      output.destroy();
    }
  });
  /*
   * A relay that is killed resets its connection, and readline reports that. It ends this server, but not the shared
   * process.
   */
  lines.on("error", () => output.destroy());
}
