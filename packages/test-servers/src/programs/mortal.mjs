// A server whose version is its process id, so that a test can kill it.
import { serve } from "./serve.mjs";

serve({
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "mortal", version: String(process.pid) },
  }),
});
