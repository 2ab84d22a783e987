/** Validates values against servers' schemas: cheap validations on the main thread, all others in worker threads. */

import type { JsonObject } from "@fairlead/wire";
import { systemClock } from "../../clock.ts";
import { createBoundedCache } from "./bounded-cache.ts";
import { isBounded, measure } from "./schema-cost.ts";
import { type Check, notValidated, type Validation } from "./validation.ts";
import type { PoolOptions, WorkerPool } from "./worker-pool.ts";

export interface Validator {
  /** Rejects only with the reason of `signal`: a value that cannot be validated gives a warning. */
  validate(schema: JsonObject, value: unknown, signal?: AbortSignal): Promise<Validation>;
  close(): Promise<void>;
}

/** Limits of the worker threads. */
export type ValidatorOptions = Partial<PoolOptions>;

const maxSchema = { nodes: 10_000, characters: 1_048_576 };
/** Schemas with more characters go to a worker thread without further checks. */
const mainSchema = 65_536;
const maxValue = { nodes: 1_000_000, characters: Number.POSITIVE_INFINITY };
/**
 * The largest value for a worker thread. Node ends a thread that runs out of memory in small steps, but one allocation
 * of more than 16 MB at that moment would end the whole process.
 */
const threadValue = { nodes: 250_000, characters: 4_194_304 };
const remembered = { entries: 500, characters: 4_000_000 };

export function createValidator(options: ValidatorOptions = {}): Validator {
  let checks: Promise<(schema: string) => Check> | undefined;
  let pool: Promise<WorkerPool> | undefined;
  let isClosed = false;

  return {
    async validate(schema, value, signal) {
      signal?.throwIfAborted();
      if (isClosed) return notValidated("the host is closed");
      const size = measure(value, maxValue);
      if (size === undefined) return notValidated("the value is too large");
      if (measure(schema, maxSchema) === undefined) return notValidated("its schema is too large");
      const text = toJson(schema);
      if (text === undefined) return notValidated("its schema is not JSON, or is nested too deeply");

      if (text.length <= mainSchema && isBounded(schema, size)) {
        checks ??= loadChecks();
        const check = (await checks)(text);
        signal?.throwIfAborted();
        return check(value);
      }

      if (measure(value, threadValue) === undefined) return notValidated("the value is too large");
      const valueText = toJson(value);
      if (valueText === undefined) return notValidated("the value is not JSON, or is nested too deeply");
      pool ??= openPool(options);
      return (await pool).run({ schema: text, value: valueText }, signal);
    },
    async close() {
      isClosed = true;
      await (await pool)?.close();
    },
  };
}

/** Loads Ajv when it is first needed: most commands never need it. */
async function loadChecks(): Promise<(schema: string) => Check> {
  const { compileCheck } = await import("./compile-schema.ts");
  return createBoundedCache(remembered, (schema) => compileCheck(schema, true));
}

async function openPool(options: ValidatorOptions): Promise<WorkerPool> {
  const { createWorkerPool, workerFile } = await import("./worker-pool.ts");
  return createWorkerPool({
    worker: workerFile,
    threads: 2,
    timeLimit: 1000,
    memoryMegabytes: 128,
    clock: systemClock,
    ...options,
  });
}

/** Returns JSON text; undefined for a value that is not JSON or is nested too deeply. */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
