// Offers one tool on each page. The first argument is the number of pages, the second the bytes of each page.
import { serve } from "../serve.mjs";

const [pages, bytes] = process.argv.slice(2).map(Number);
serve({
  "tools/list": ({ cursor = "0" }) => {
    const page = Number(cursor);
    const tool = { name: `tool-${page}`, description: "x".repeat(bytes), inputSchema: { type: "object" } };
    return { tools: [tool], ...(page + 1 < pages && { nextCursor: String(page + 1) }) };
  },
});
