/** The worker thread for validations that may take long. The pool can terminate the thread. */

import { parentPort } from "node:worker_threads";
import { createBoundedCache } from "./bounded-cache.ts";
import { compileCheck } from "./compile-schema.ts";
import type { Job } from "./worker-pool.ts";

/**
 * Maximum size of the cache. The thread has little memory, and a compiled schema needs a hundred times the size of its
 * text.
 */
const limits = { entries: 50, characters: 262_144 };
/**
 * Maximum characters of a value for which all issues are reported. A longer value could have very many issues, so only
 * its first issue is reported.
 */
const smallValue = 65_536;

const thorough = createBoundedCache(limits, (schema) => compileCheck(schema, true));
const quick = createBoundedCache(limits, (schema) => compileCheck(schema, false));

parentPort?.on("message", ({ schema, value }: Job) => {
  const check = value.length <= smallValue ? thorough(schema) : quick(schema);
  parentPort?.postMessage(check(JSON.parse(value)));
});
parentPort?.postMessage("ready");
