// Its list of tools never ends: every page names a next page.
import { serve } from "../serve.mjs";

serve({
  "tools/list": ({ cursor = "0" }) => ({
    tools: [{ name: `tool-${cursor}`, inputSchema: { type: "object" } }],
    nextCursor: String(Number(cursor) + 1),
  }),
});
