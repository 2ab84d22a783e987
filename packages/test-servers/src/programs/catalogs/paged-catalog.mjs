// Offers one tool on each page. The first argument is the number of pages, the second the characters of each page, the
// third the character; "x" by default.
import { serve } from "../serve.mjs";

const [pages, length] = process.argv.slice(2).map(Number);
const character = process.argv[4] ?? "x";
serve({
  "tools/list": ({ cursor = "0" }) => {
    const page = Number(cursor);
    const tool = { name: `tool-${page}`, description: character.repeat(length), inputSchema: { type: "object" } };
    return { tools: [tool], ...(page + 1 < pages && { nextCursor: String(page + 1) }) };
  },
});
