// Offers as many tools as its argument says, on one page, each with a long description.
import { serve } from "../serve.mjs";

const description = "This tool does a great many things. ".repeat(10);
const tools = Array.from({ length: Number(process.argv[2]) }, (_, number) => ({
  name: `tool-${number}`,
  description,
  inputSchema: { type: "object", properties: { text: { type: "string", description } } },
}));
serve({ "tools/list": () => ({ tools }) });
