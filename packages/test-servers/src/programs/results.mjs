// Each tool returns the result that the given file has for it.
import { readFileSync } from "node:fs";
import { serve } from "./serve.mjs";

const results = JSON.parse(readFileSync(process.argv[2], "utf8"));
const tools = Object.keys(results).map((name) => ({ name, inputSchema: { type: "object" } }));

serve({ "tools/list": () => ({ tools }), "tools/call": ({ name }) => results[name] });
