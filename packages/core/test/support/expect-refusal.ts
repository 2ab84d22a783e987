/** That an attempt fails with a HostError of that code, whose message and next step contain or match what is given. */

import { expect } from "vitest";
import { type ErrorCode, HostError } from "../../src/errors.ts";

export async function expectRefusal(
  attempt: Promise<unknown>,
  expected: { readonly code: ErrorCode; readonly message: string | RegExp; readonly next?: string | RegExp },
): Promise<HostError> {
  const error = await attempt.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof HostError)) expect.fail(`not refused with a HostError: ${String(error)}`);
  expect(error.code).toBe(expected.code);
  expect(error.message).toMatch(expected.message);
  if (expected.next !== undefined) expect(error.next).toMatch(expected.next);
  return error;
}
