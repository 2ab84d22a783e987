import { expect, test } from "vitest";
import { LateLine } from "../../../src/tui/plain/line-steps.ts";
import type { AppEvent, AppState } from "../../../src/tui/state/app-state.ts";
import type { UserQuestion } from "../../../src/tui/state/questions.ts";
import { handClock } from "../../support/hand-clock.ts";
import { after, idle } from "../../support/tui/app-state.ts";

const clientId: UserQuestion = { key: "id", kind: "client_id", serverName: "s", issuer: "https://a", redirectUri: "b" };

test("a line that was begun as the answer to a question that is gone is dropped; later lines are used", () => {
  const clock = handClock();
  let state: AppState = idle;
  const late: LateLine = new LateLine(() => state, clock);
  const happen = (event: AppEvent): void => {
    state = after(state, event);
    late.look();
  };
  happen({ type: "ask", question: clientId });
  expect(late.isLate()).toBe(false);
  happen({ type: "asked", key: "id" });
  clock.pass(4999);
  expect(late.isLate()).toBe(true);
  late.read();
  expect(late.isLate()).toBe(false);
  happen({ type: "ask", question: clientId });
  // Because of the line, and so before it was read to its end.
  state = after(state, { type: "asked", key: "id" });
  late.read();
  expect(late.isLate()).toBe(false);
  happen({ type: "ask", question: clientId });
  happen({ type: "asked", key: "id" });
  clock.pass(5000);
  expect(late.isLate()).toBe(false);
});

test("a line is late also if look() has not been called since the question closed", () => {
  const clock = handClock();
  let state: AppState = after(idle, { type: "ask", question: clientId });
  const late = new LateLine(() => state, clock);
  clock.pass(10_000);
  late.look();
  state = idle;
  expect(late.isLate()).toBe(true);
  clock.pass(4999);
  expect(late.isLate()).toBe(true);
  clock.pass(1);
  expect(late.isLate()).toBe(false);
});
