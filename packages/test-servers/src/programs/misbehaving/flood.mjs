// From its first call on, writes to stderr as fast as the host reads.
import { writeSync } from "node:fs";
import { serve } from "../serve.mjs";

const text = "all work and no play\n".repeat(1000);
function flood() {
  writeSync(2, text);
  setImmediate(flood);
}
serve({
  "tools/call": ({ arguments: { text: said } }) => {
    setImmediate(flood);
    return { content: [{ type: "text", text: said }] };
  },
});
