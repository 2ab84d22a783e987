import type { ServerState } from "@fairlead/core/events";
import { expect, test } from "vitest";
import { isConnectSettled, stateWords } from "../../../src/output/servers/server-state.ts";

const lost: ServerState = {
  name: "s",
  since: 0,
  status: "disconnected",
  reason: "backoff",
  nextTryAt: 1000,
  because: { reason: "server_exited", message: "gone" },
  message: "gone",
};

test("a server that comes back by itself is not said to have failed", () => {
  expect(stateWords(lost)).toBe("reconnecting");
  expect(stateWords(lost, 400)).toBe("reconnecting (in 1 s)");
  expect(stateWords({ ...lost, nextTryAt: 3_600_000 }, 0)).toBe("reconnecting (in 60 min)");
  expect(isConnectSettled(lost)).toBe(true);
});

test("one that does not is", () => {
  const given: ServerState = { name: "s", since: 0, status: "disconnected", reason: "start_limit", message: "5 times" };
  expect(stateWords(given)).toBe("failed: start limit");
});
