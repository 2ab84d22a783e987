// Offers the tools in the JSON file that its argument names. A call returns the tool's name and the arguments.
import { readFileSync } from "node:fs";
import { serve } from "./serve.mjs";

serve({
  "tools/list": () => ({ tools: JSON.parse(readFileSync(process.argv[2], "utf8")) }),
  "tools/call": ({ name, arguments: args }) => ({
    content: [{ type: "text", text: JSON.stringify({ name, args }) }],
    ...(args["structured"] && { structuredContent: args["structured"] }),
    isError: args["fails"] === true,
  }),
});
