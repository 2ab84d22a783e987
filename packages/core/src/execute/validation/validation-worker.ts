/** The thread where validations run that may take long: it can be ended. */

import { parentPort } from "node:worker_threads";
import { createBoundedCache } from "./bounded-cache.ts";
import { compileSchema } from "./compile-schema.ts";
import type { Job } from "./worker-pool.ts";

/** Little: a compiled schema takes a hundred times its text, and the memory of a thread is small. */
const limits = { entries: 50, characters: 262_144 };
/** A larger value can have very many issues; the first is enough then. */
const smallValue = 65_536;

const thorough = createBoundedCache(limits, (schema) => compileSchema(schema, true));
const quick = createBoundedCache(limits, (schema) => compileSchema(schema, false));

parentPort?.on("message", ({ schema, value }: Job) => {
  const check = value.length <= smallValue ? thorough(schema) : quick(schema);
  parentPort?.postMessage(check(JSON.parse(value)));
});
parentPort?.postMessage("ready");
