// Two valid tools, and between them many kinds of invalid tools.
import { serve } from "../serve.mjs";

const inputSchema = { type: "object" };
serve({
  "tools/list": () => ({
    tools: [
      { name: "first", inputSchema },
      { inputSchema },
      "tool",
      null,
      { name: 7, inputSchema },
      { name: "no-schema" },
      { name: "odd-title", inputSchema, title: { en: "Odd" } },
      { name: "last", inputSchema },
    ],
  }),
});
