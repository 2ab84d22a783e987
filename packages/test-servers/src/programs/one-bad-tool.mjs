// Two good tools, and between them everything that is no tool, or hardly one.
import { serve } from "./serve.mjs";

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
