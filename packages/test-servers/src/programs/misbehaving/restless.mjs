/*
 * The tool `storm` announces changed tools as often as its argument says, then adds one tool. The tool `count` returns
 * how often the tools were listed.
 */
import { serve } from "../serve.mjs";

const news = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })}\n`;
const names = ["storm", "count"];
let listed = 0;

serve({
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "restless", version: "1.0.0" },
  }),
  "tools/list"() {
    listed += 1;
    return { tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) };
  },
  "tools/call"({ name, arguments: { times = 0 } }) {
    if (name === "storm") {
      for (let told = 0; told < times - 1; told += 1) process.stdout.write(news);
      names.push("late");
      process.stdout.write(news);
    }
    return { content: [{ type: "text", text: String(listed) }] };
  },
});
