/*
 * Works, but ignores the end of its stdin, SIGTERM, SIGINT and SIGHUP. Once it ignores them, it writes its process id
 * to the file in its argument, if there is one.
 */
import { writeFileSync } from "node:fs";
import { serve } from "../serve.mjs";

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
setInterval(() => {}, 60_000);
const file = process.argv.at(2);
if (file !== undefined) writeFileSync(file, String(process.pid));
serve();
