/** The worker thread that reads one stored result. */

import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { queryResult, type ResultQuery } from "./result-query.ts";

/** The file to read, and the query to run on it. */
export interface ResultJob {
  readonly path: string;
  readonly query: ResultQuery;
}

// Without this, a JMESPath expression could read `__proto__` of every object in the result.
Reflect.deleteProperty(Object.prototype, "__proto__");
const { path, query } = workerData as ResultJob;
const text = readFileSync(path, "utf8");
parentPort?.postMessage("ready");
parentPort?.postMessage(queryResult(text, query));
