import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { brokenIn, calls, collect, desk, outcomes, plays, responses, says } from "../support/turn-desk.ts";

test("calls that are stopped are told to the model, and the turn goes on", async () => {
  await using at = await desk({
    servers: (path) => ({ w: { ...stdioServer("workshop", path("notes")), trust: true } }),
  });
  const model = plays([...calls("echo", { text: "1" }), ...calls("hang")], says("Then not."));
  const conversation = at.host.conversation({ model });
  expect(conversation.cancelCalls()).toBe(false);
  const seen: string[] = [];
  const events = await collect(conversation.send("go"), {
    on(event) {
      if (event.type === "call") seen.push(`${event.name} ${event.status}`);
      if (seen.includes("echo ok") && seen.includes("hang running") && !seen.includes("hang cancelled"))
        expect(conversation.cancelCalls()).toBe(true);
    },
  });
  expect(outcomes(events)).toEqual([
    ["echo", "ok"],
    ["hang", "cancelled"],
  ]);
  expect(events.at(-1)).toEqual({ type: "done", reason: "stop", text: "Then not.", denied: 0, calls: 2 });
  const asked = model.requests[1];
  expect(asked && responses(asked)).toEqual([
    ["echo", { output: expect.stringContaining("1") }],
    ["hang", { error: "The user stopped the call while it ran: it may or may not have had its effect." }],
  ]);
  expect([brokenIn(conversation.history), conversation.cancelCalls()]).toEqual([undefined, false]);
});
