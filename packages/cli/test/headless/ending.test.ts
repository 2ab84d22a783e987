import { exitCodeOf } from "@fairlead/core/errors";
import type { DoneReason } from "@fairlead/core/turn/events";
import { expect, test } from "vitest";
import { endingOf } from "../../src/headless/run.ts";

test.each<[DoneReason, number, boolean, number]>([
  ["stop", 0, false, 0],
  ["stop", 2, false, 0],
  ["stop", 0, true, 0],
  ["stop", 1, true, 6],
  ["length", 1, true, 1],
  ["safety", 0, false, 1],
  ["limit", 0, false, 1],
  ["cancelled", 1, true, 130],
])("%s with %i denied, --fail-on-denied %s: exit code %i", (reason, denied, failOnDenied, code) => {
  const error = endingOf({ reason, denied }, { failOnDenied });
  expect(error === undefined ? 0 : exitCodeOf(error.code)).toBe(code);
});
