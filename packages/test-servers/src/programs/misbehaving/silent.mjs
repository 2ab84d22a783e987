// Reads all input and never answers. If it has an argument, prints it, which is no valid message.
import { runIfMain } from "../program.mjs";

/** @param {import("../program.mjs").Io} io */
export function silent({ args, input, output }) {
  const words = args.join(" ");
  input.resume();
  if (words !== "") output.write(`${words}\n`);
}

runIfMain(import.meta.url, silent);
