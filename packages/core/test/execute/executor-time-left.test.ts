import { until } from "@fairlead/test-servers";
import { WireError } from "@fairlead/wire";
import { expect, test } from "vitest";
import { toCallError } from "../../src/connect/outcome.ts";
import { manualClock } from "../support/manual-clock.ts";
import { clientOf, done, echo, executorWith } from "../support/memory-client.ts";

test.each([
  ["0.3", 2],
  ["0.5", 1],
])("a busy server is not waited for longer than the call may last: %s s, sent %i times", async (retryAfter, times) => {
  const busy = new WireError("http_status", "the server answered with HTTP status 429", {
    httpStatus: 429,
    retryAfter,
  });
  const clock = manualClock();
  await clock.pass(10_000);
  let calls = 0;
  const { client, sent } = clientOf([{ ...echo, annotations: { readOnlyHint: true } }], async () => {
    calls += 1;
    if (calls > 1) return done;
    await clock.pass(200);
    throw toCallError(busy, { serverName: "s", what: "s.echo", method: "tools/call" });
  });
  const executor = executorWith({ clock, reconnect: async () => client });
  const how = { timeout: 1000, total: 600, trustAnnotations: true };
  const answer = executor.call({ client, tool: "echo", args: { text: "" } }, how).catch((error: unknown) => error);
  await until(() => clock.now() === 10_200);
  await clock.pass(500);
  await answer;
  expect(sent).toHaveLength(times);
});
