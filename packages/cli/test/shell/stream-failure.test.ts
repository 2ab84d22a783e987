import { expect, test } from "vitest";
import { type StreamFailure, streamFailure } from "../../src/shell/main.ts";

test.each<[string, boolean, StreamFailure]>([
  ["EIO", true, "hangup"],
  ["EIO", false, "failure"],
  ["EPIPE", false, "enough"],
  ["ENOSPC", false, "failure"],
])("%s, with a terminal: %s, is a %s", (code, isTerminal, failure) => {
  expect(streamFailure(Object.assign(new Error("write"), { code }), isTerminal)).toBe(failure);
});
