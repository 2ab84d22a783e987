/*
 * A server for the official conformance suite, on stdio. `--legacy-only` and `--modern-only` leave out one protocol
 * era. With `--http` it listens on the loopback address, prints its address, and runs until its stdin ends.
 */
import { createCatalog } from "./conformance/catalog.mjs";
import { createConnection } from "./conformance/connection.mjs";
import { listen } from "./conformance/http-face.mjs";
import { onLine, runIfMain } from "./program.mjs";

/** @param {import("./program.mjs").Io} io */
export function conformance(io) {
  const { args, input, output } = io;
  const left = { "--legacy-only": "modern", "--modern-only": "legacy" };
  const eras = ["legacy", "modern"].filter((era) => !args.some((arg) => left[arg] === era));
  const catalog = createCatalog();
  const print = (line) => void (output.writable && output.write(`${line}\n`));
  if (args.includes("--http")) {
    input.resume().on("end", () => process.exit());
    return void listen({ catalog, eras }).then(print);
  }
  const connection = createConnection({ catalog, eras, send: (message) => print(JSON.stringify(message)) });
  input.on("close", () => connection.close());
  onLine(io, (line) => connection.take(JSON.parse(line)));
}

runIfMain(import.meta.url, conformance);
