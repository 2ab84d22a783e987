// Has always one more page of tools.
import { serve } from "./serve.mjs";

serve({
  "tools/list": ({ cursor = "0" }) => ({
    tools: [{ name: `tool-${cursor}`, inputSchema: { type: "object" } }],
    nextCursor: String(Number(cursor) + 1),
  }),
});
