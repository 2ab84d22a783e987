// Offers the tools in the JSON file that its argument names, as they stand there when it is asked.
import { readFileSync } from "node:fs";
import { serve } from "./serve.mjs";

serve({ "tools/list": () => ({ tools: JSON.parse(readFileSync(String(process.argv[2]), "utf8")) }) });
