/** The worker thread that reads one stored result. */

import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { queryResult, type ResultQuery } from "./result-query.ts";

export interface ResultJob {
  readonly path: string;
  readonly query: ResultQuery;
}

// Deletes the inherited `__proto__`, which a JMESPath expression could otherwise read from every object in the result.
Reflect.deleteProperty(Object.prototype, "__proto__");
const { path, query } = workerData as ResultJob;
const text = readFileSync(path, "utf8");
parentPort?.postMessage("ready");
parentPort?.postMessage(queryResult(text, query));
