// Works, and heeds neither the end of its stdin nor SIGTERM, SIGINT or SIGHUP.
import { serve } from "./serve.mjs";

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
setInterval(() => {}, 60_000);
serve();
