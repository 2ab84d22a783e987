// Offers the tools in the JSON file that its argument names. A call returns the tool's name and the arguments.
import { readFileSync } from "node:fs";
import { runIfMain } from "../program.mjs";
import { serve } from "../serve.mjs";

/** @param {import("../program.mjs").Io} io */
export function echoCatalog(io) {
  const [file] = io.args;
  const answers = {
    "tools/list": () => ({ tools: JSON.parse(readFileSync(String(file), "utf8")) }),
    "tools/call": ({ name, arguments: args }) => ({
      content: [{ type: "text", text: JSON.stringify({ name, args }) }],
      ...(args["structured"] && { structuredContent: args["structured"] }),
      isError: args["fails"] === true,
    }),
  };
  serve(answers, undefined, io);
}

runIfMain(import.meta.url, echoCatalog);
