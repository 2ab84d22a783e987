/** What a validator decides before any thread is needed. */

import { expect, test } from "vitest";
import { createValidator } from "../../../src/execute/validation/validator.ts";

const text = { type: "string" };

test("the first check loads the validator, and later ones answer at once", async () => {
  const validator = createValidator();
  const first = validator.validate(text, 7);
  expect(first).toBeInstanceOf(Promise);
  const issue = { path: "", message: "must be a string", keyword: "type", params: { type: "string" } };
  expect(await first).toEqual({ issues: [issue], warnings: [] });
  expect(validator.validate(text, 7)).toEqual({ issues: [issue], warnings: [] });
  expect(validator.validate({ ...text }, "a")).toEqual({ issues: [], warnings: [] });
});

test("a check that is cancelled before or while the validator loads has no result", async () => {
  const validator = createValidator();
  await expect(validator.validate(text, 7, AbortSignal.abort("before"))).rejects.toBe("before");
  const stop = new AbortController();
  const loading = validator.validate(text, 7, stop.signal);
  stop.abort("meanwhile");
  await expect(loading).rejects.toBe("meanwhile");
  await expect(validator.validate(text, 7, stop.signal)).rejects.toBe("meanwhile");
});

test.each<[string, Readonly<Record<string, unknown>>, unknown, string]>([
  ["a schema with very many nodes", { enum: Array.from({ length: 10_000 }, () => 0) }, 0, "its schema is too large"],
  ["a value with very many nodes", text, Array.from({ length: 1_000_000 }, () => 0), "the value is too large"],
])("%s is not validated, and that is said", async (_, schema, value, reason) => {
  const validator = createValidator();
  for (const _again of [1, 2])
    expect(await validator.validate(schema, value)).toEqual({ issues: [], warnings: [`not validated: ${reason}`] });
  await validator.close();
});

test("after closing, nothing is validated", async () => {
  const validator = createValidator();
  await validator.validate(text, 7);
  await validator.close();
  expect(validator.validate(text, 7)).toEqual({ issues: [], warnings: ["not validated: the host is closed"] });
});
