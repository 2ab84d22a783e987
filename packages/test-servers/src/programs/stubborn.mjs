// Works, and heeds neither the end of its stdin nor SIGTERM, SIGINT or SIGHUP; from then on its process number is in the file
// that its argument names, if it has one.
import { writeFileSync } from "node:fs";
import { serve } from "./serve.mjs";

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
setInterval(() => {}, 60_000);
const file = process.argv.at(2);
if (file !== undefined) writeFileSync(file, String(process.pid));
serve();
