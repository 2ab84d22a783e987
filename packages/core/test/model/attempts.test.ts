import { expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { type AttemptEvent, type ModelFailure, withRetries } from "../../src/model/attempts.ts";
import type { ModelEvent } from "../../src/model/model.ts";
import { manualClock } from "../support/manual-clock.ts";

const done: ModelEvent = { type: "finish", reason: "stop", content: { role: "model", parts: [] } };
const text: ModelEvent = { type: "text", text: "one" };
const error = new HostError("model", "no answer");
const failed = (again?: ModelFailure["again"]): AttemptEvent => ({
  type: "failed",
  failure: { error, ...(again && { again }) },
});
const busy = failed({ reason: "busy" });

interface Run {
  readonly events: readonly ModelEvent[];
  readonly thrown: unknown;
  readonly attempts: number;
}

interface RunOptions {
  readonly chance?: number;
  readonly abort?: AbortController;
  readonly onEvent?: (event: AttemptEvent) => void;
}

/** Runs the attempts; each waits until the clock has passed its pause. `onEvent` may abort the signal. */
async function run(
  attempts: readonly (readonly AttemptEvent[])[],
  { chance = 0, abort = new AbortController(), onEvent }: RunOptions = {},
): Promise<Run> {
  const clock = manualClock();
  const events: ModelEvent[] = [];
  let count = 0;
  async function* attempt(): AsyncGenerator<AttemptEvent> {
    count += 1;
    for (const event of attempts[count - 1] ?? attempts.at(-1) ?? []) {
      onEvent?.(event);
      yield event;
    }
  }
  try {
    for await (const event of withRetries(attempt, abort.signal, { clock, random: () => chance })) {
      events.push(event);
      if (event.type === "retry") setImmediate(() => void clock.pass(event.delayMs));
    }
    return { events, thrown: undefined, attempts: count };
  } catch (thrown) {
    return { events, thrown, attempts: count };
  }
}

const delays = ({ events }: Run) => events.flatMap((event) => (event.type === "retry" ? [event.delayMs] : []));

test("an answer without a failure is passed on once", async () => {
  expect(await run([[text, done]])).toEqual({ events: [text, done], thrown: undefined, attempts: 1 });
});

test("a failed request is sent again after a pause, and the client reads why", async () => {
  expect(await run([[busy], [failed({ reason: "full", afterMs: 7 })], [text, done]])).toEqual({
    events: [
      { type: "retry", attempt: 1, delayMs: 1_000, reason: "busy" },
      { type: "retry", attempt: 2, delayMs: 7, reason: "full" },
      text,
      done,
    ],
    thrown: undefined,
    attempts: 3,
  });
});

test.each([
  [0, [1_000, 2_000, 4_000, 8_000]],
  [0.5, [750, 1_500, 3_000, 6_000]],
  [1, [500, 1_000, 2_000, 4_000]],
])(
  "after five failures the client gets the error; with the random number %s the pauses are %j",
  async (chance, pauses) => {
    const ended = await run([[busy]], { chance });
    expect(delays(ended)).toEqual(pauses);
    expect(ended.thrown).toBe(error);
    expect(ended.attempts).toBe(5);
  },
);

test("the client waits for up to a minute if the API asks for it, and not longer", async () => {
  const wait = (afterMs: number) => run([[failed({ reason: "full", afterMs })], [done]]);
  expect(delays(await wait(60_000))).toEqual([60_000]);
  expect(await wait(60_001)).toEqual({ events: [], thrown: error, attempts: 1 });
});

test("a failure is not repeated after a part of the answer, nor if a retry does not help", async () => {
  expect(await run([[text, busy], [done]])).toEqual({ events: [text], thrown: error, attempts: 1 });
  expect(await run([[failed()], [done]])).toEqual({ events: [], thrown: error, attempts: 1 });
});

const cancelled = expect.objectContaining({ code: "cancelled", message: "cancelled" });

test("a cancelled request is not sent, and its events are not passed on", async () => {
  const before = new AbortController();
  before.abort();
  expect(await run([[text, done]], { abort: before })).toEqual({ events: [], thrown: cancelled, attempts: 0 });
  const during = new AbortController();
  const onEvent = (event: AttemptEvent): void => {
    if (event === text) during.abort();
  };
  expect(await run([[text, done]], { abort: during, onEvent })).toEqual({ events: [], thrown: cancelled, attempts: 1 });
});

test("a request that is cancelled at its last event rejects as cancelled", async () => {
  const abort = new AbortController();
  async function* attempt(): AsyncGenerator<AttemptEvent> {
    yield done;
    abort.abort();
  }
  const events: ModelEvent[] = [];
  const reading = async (): Promise<void> => {
    for await (const event of withRetries(attempt, abort.signal, { clock: manualClock() })) events.push(event);
  };
  await expect(reading()).rejects.toEqual(cancelled);
  expect(events).toEqual([done]);
});

test("a request that is cancelled during the pause ends at once, without a timer", async () => {
  const [abort, clock] = [new AbortController(), manualClock()];
  const events: ModelEvent[] = [];
  async function* attempt(): AsyncGenerator<AttemptEvent> {
    yield busy;
  }
  const reading = async (): Promise<void> => {
    for await (const event of withRetries(attempt, abort.signal, { clock, random: () => 0 })) {
      events.push(event);
      setImmediate(() => abort.abort());
    }
  };
  await expect(reading()).rejects.toEqual(cancelled);
  expect(events).toHaveLength(1);
  expect(clock.pending()).toBe(0);
});
