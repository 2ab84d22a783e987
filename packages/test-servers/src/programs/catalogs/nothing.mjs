// Offers no tools. With the argument "listChanged", declares that the list may change.
import { serve } from "../serve.mjs";

const listChanged = process.argv[2] === "listChanged";
serve({
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: listChanged ? { listChanged } : {} },
    serverInfo: { name: "nothing", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [] }),
});
