/** The worker thread that reads one stored result. */

import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { queryResult, type ResultQuery } from "./result-query.ts";

export interface ResultJob {
  readonly path: string;
  readonly query: ResultQuery;
}

// Deletes `__proto__`, because otherwise an expression could read it although the stored result does not contain it.
Reflect.deleteProperty(Object.prototype, "__proto__");
const { path, query } = workerData as ResultJob;
const text = readFileSync(path, "utf8");
parentPort?.postMessage("ready");
parentPort?.postMessage(queryResult(text, query));
