// Offers one tool on each page: as many pages as its first argument says, of as many bytes as its second one says.
import { serve } from "./serve.mjs";

const [pages, bytes] = process.argv.slice(2).map(Number);
serve({
  "tools/list": ({ cursor = "0" }) => {
    const page = Number(cursor);
    const tool = { name: `tool-${page}`, description: "x".repeat(bytes), inputSchema: { type: "object" } };
    return { tools: [tool], ...(page + 1 < pages && { nextCursor: String(page + 1) }) };
  },
});
