import { expect, test } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import { callable, sampleTool } from "../support/sample-tools.ts";

test.each(["null", "1", '"text"', "{}", "[null]", '["text"]', '[{"text":"a"},null]', '["text",{}]'])(
  "a tool built by hand that answers %s is told that this is no answer",
  async (answer) => {
    const mcpTool = { tool: async () => ({}), callTool: async () => JSON.parse(answer) };
    await expect(sampleTool("s", "read", { mcpTool }).execute({})).rejects.toMatchObject({
      name: "HostError",
      code: "protocol",
      message: "s.read did not return a list of parts",
    });
  },
);

test("a call that is answered leaves no timer, and a call with an aborted signal is cancelled", async () => {
  const [abort, clock] = [new AbortController(), manualClock()];
  const tool = sampleTool("s", "read", { mcpTool: callable("done"), timeout: 5, clock });
  expect((await tool.execute({}, abort.signal)).returnDisplay).toBe("done");
  expect(clock.pending()).toBe(0);
  abort.abort();
  await expect(tool.execute({}, abort.signal)).rejects.toMatchObject({
    code: "cancelled",
    message: "s.read was cancelled",
    serverName: "s",
  });
});
