// Its tools return as many characters as requested, in lines of 80 characters, or as many nested lists as requested.
import { runIfMain } from "../program.mjs";
import { serve } from "../serve.mjs";

const line = `${"0123456789".repeat(8).slice(0, 79)}\n`;
const inputSchema = { type: "object", properties: { size: { type: "integer" } }, required: ["size"] };
const tools = ["write", "nest"].map((name) => ({ name, inputSchema }));

/** @param {import("../program.mjs").Io} io */
export function largeResult(io) {
  let lists = "";
  const answers = {
    "tools/list": () => ({ tools }),
    "tools/call"({ name, arguments: { size } }) {
      if (name === "write")
        return { content: [{ type: "text", text: line.repeat(Math.ceil(size / 80)).slice(0, size) }] };
      lists = "[".repeat(size) + "]".repeat(size);
      return { content: [], structuredContent: { lists: "as text" } };
    },
  };
  // `JSON.stringify` cannot write lists that are nested so deeply.
  serve(answers, (text) => void io.output.write(lists === "" ? text : text.replace('"as text"', lists)), io);
}

runIfMain(import.meta.url, largeResult);
