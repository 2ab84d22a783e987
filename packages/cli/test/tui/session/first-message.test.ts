import { inTurn, says } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { AppState } from "../../../src/tui/state/app-state.ts";
import { machine } from "../../support/machine.ts";
import { scene as modelScene } from "../../support/model-scene.ts";
import { openScene } from "../../support/tui/session-scene.ts";

/** Everything but the welcome text and the message. */
function isOutcome(item: AppState["items"][number]): boolean {
  return item.kind !== "person" && !(item.kind === "output" && item.title === "Fairlead");
}

test.each(["/mcp add -s user planted node -v", "/policy allow demo.greet", "demo.greet name=Ada"])(
  "the first message goes to the model, and is no command: %s",
  async (text) => {
    await using here = await modelScene({ api: { answer: inTurn(says("I see.")) } });
    await using app = await openScene(here, {}, text);
    // The text as a command would show a call, a note or a list instead of the answer.
    await app.until(({ items, turn }) => turn.kind === "idle" && items.some(isOutcome));
    expect(here.api.seen).toHaveLength(1);
    expect(JSON.stringify(here.api.seen[0]?.body.contents)).toContain(text);
    expect(app.state().items.filter(({ kind }) => kind === "call")).toEqual([]);
  },
);

test.each(["/policy allow demo.greet", "demo.greet name=Ada"])(
  "without a model, the first message waits in the prompt for Enter: %s",
  async (text) => {
    await using here = await machine();
    await using app = await openScene(here, {}, text);
    await app.shown(/the first message was not sent/);
    expect(app.state().editor.text).toBe(text);
    expect(app.state().turn.kind).toBe("idle");
    expect(app.state().items.filter(({ kind }) => kind === "call" || kind === "person")).toEqual([]);
  },
);

test("Enter runs the first message that waits in the prompt", async () => {
  await using here = await machine();
  await using app = await openScene(here, {}, "demo.greet name=Ada");
  await app.shown(/the first message was not sent/);
  app.session.press({ name: "enter" });
  await app.shown(/Hello, Ada!/);
  await app.until(({ turn }) => turn.kind === "idle");
});

test("the first message may be a prompt of a server", async () => {
  await using here = await modelScene({ api: { answer: inTurn(says("I see.")) } });
  await using app = await openScene(here, {}, "/teach knot=bowline");
  await app.shown(/^I see\./);
});
