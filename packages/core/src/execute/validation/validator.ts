/**
 * Validates values against servers' schemas. Runs cheap validations on the main thread and all others in worker
 * threads.
 */

import type { JsonObject } from "@fairlead/wire";
import { systemClock } from "../../clock.ts";
import { createBoundedCache } from "./bounded-cache.ts";
import { costOf, isBounded, measure, type SchemaCost } from "./schema-cost.ts";
import { type Check, notValidated, type Validation } from "./validation.ts";
import type { PoolOptions, WorkerPool } from "./worker-pool.ts";

/** Validates values against schemas within limits of time and memory. */
export interface Validator {
  /** Validates a value. If that is not possible, the result has a warning. Rejects only with the reason of `signal`. */
  validate(schema: JsonObject, value: unknown, signal?: AbortSignal): Validation | Promise<Validation>;
  close(): Promise<void>;
}

/** Limits of the worker threads. */
export type ValidatorOptions = Partial<PoolOptions>;

const maxSchema = { nodes: 10_000, characters: 1_048_576 };
/** Schemas with more characters than this are always checked in a worker thread. */
const mainSchema = 65_536;
const maxValue = { nodes: 1_000_000, characters: Number.POSITIVE_INFINITY };
/** The largest value for a worker thread. A larger value could use up the memory of the process. */
const threadValue = { nodes: 250_000, characters: 4_194_304 };
const remembered = { entries: 500, characters: 4_000_000 };

/** What is computed once for each schema. */
interface KnownSchema {
  /** The schema as JSON. Undefined if it cannot be used for validation; `refusal` says why. */
  readonly text: string | undefined;
  readonly refusal: string;
  /** The cost of the schema. Undefined if only a worker thread may use the schema. */
  readonly cost: SchemaCost | undefined;
}

/** Creates a validator. It loads Ajv and starts threads only when they are needed. */
export function createValidator(options: ValidatorOptions = {}): Validator {
  /** Results by schema object. They stay valid, because Fairlead never changes a schema object. */
  const schemas = new WeakMap<JsonObject, KnownSchema>();
  let loading: Promise<(schema: string) => Check> | undefined;
  let checks: ((schema: string) => Check) | undefined;
  let pool: Promise<WorkerPool> | undefined;
  let isClosed = false;

  function knownSchema(schema: JsonObject): KnownSchema {
    const prepared = schemas.get(schema) ?? toKnown(schema);
    schemas.set(schema, prepared);
    return prepared;
  }

  function validate(schema: JsonObject, value: unknown, signal?: AbortSignal): Validation | Promise<Validation> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (isClosed) return notValidated("the host is closed");
    const size = measure(value, maxValue);
    if (size === undefined) return notValidated("the value is too large");
    const { text, refusal, cost } = knownSchema(schema);
    if (text === undefined) return notValidated(refusal);

    if (isBounded(cost, size)) return checks === undefined ? checkWhenLoaded(text, value, signal) : checks(text)(value);

    if (measure(value, threadValue) === undefined) return notValidated("the value is too large");
    const valueText = toJson(value);
    if (valueText === undefined) return notValidated("the value is not JSON, or is nested too deeply");
    pool ??= openPool(options);
    return pool.then((threads) => threads.run({ schema: text, value: valueText }, signal));
  }

  async function checkWhenLoaded(schema: string, value: unknown, signal?: AbortSignal): Promise<Validation> {
    loading ??= loadChecks();
    checks = await loading;
    signal?.throwIfAborted();
    return checks(schema)(value);
  }

  return {
    validate,
    async close() {
      isClosed = true;
      await (await pool)?.close();
    },
  };
}

function toKnown(schema: JsonObject): KnownSchema {
  if (measure(schema, maxSchema) === undefined) return unusable("its schema is too large");
  const text = toJson(schema);
  if (text === undefined) return unusable("its schema is not JSON, or is nested too deeply");
  return { text, refusal: "", cost: text.length <= mainSchema ? costOf(schema) : undefined };
}

function unusable(refusal: string): KnownSchema {
  return { text: undefined, refusal, cost: undefined };
}

/** Loads Ajv when it is first needed, because most commands never need it. */
async function loadChecks(): Promise<(schema: string) => Check> {
  const { compileCheck } = await import("./compile-schema.ts");
  return createBoundedCache(remembered, (schema) => compileCheck(schema, true));
}

async function openPool(options: ValidatorOptions): Promise<WorkerPool> {
  const { createWorkerPool, workerFile } = await import("./worker-pool.ts");
  return createWorkerPool({
    worker: workerFile,
    threads: 2,
    timeLimit: 5000,
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
