// Can be killed: its version is its process id.
import { serve } from "./serve.mjs";

serve({
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "mortal", version: String(process.pid) },
  }),
});
