// Says over and over that its tools changed, as often as the call of `storm` tells; at the end there is one more, and `count` tells how often it was listed.
import { serve } from "./serve.mjs";

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
