import { PassThrough } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import type { ReadStream, WriteStream } from "node:tty";
import { expect, onTestFinished, test } from "vitest";
import type { Key } from "../../src/tui/input/keys.ts";
import { takeTerminal } from "../../src/tui/terminal.ts";
import { handClock } from "../support/hand-clock.ts";

const pasteBegin = "\u001b[200~";
const pasteEnd = "\u001b[201~";
const piece = "x".repeat(100);

/** A terminal whose keys are collected. `pass` moves the clock and waits until the immediates have run. */
function take() {
  const stdin = Object.assign(new PassThrough(), { setRawMode: () => stdin });
  const stdout = new PassThrough();
  const clock = handClock();
  const timers = new Set<object>();
  const keys: Key[] = [];
  let alsoOnKey = (): void => {};
  const leave = takeTerminal(
    { stdin: stdin as unknown as ReadStream, stdout: stdout as unknown as WriteStream },
    (key) => {
      keys.push(key);
      alsoOnKey();
    },
    () => {},
    {
      after(milliseconds, action) {
        const callOff = clock.after(milliseconds, action);
        timers.add(callOff);
        return () => {
          timers.delete(callOff);
          callOff();
        };
      },
    },
  );
  onTestFinished(leave);
  const type = async (text: string): Promise<void> => {
    stdin.write(text);
    await turn();
  };
  const pass = async (milliseconds: number): Promise<void> => {
    clock.pass(milliseconds);
    await turn();
  };
  const onKey = (action: () => void): void => {
    alsoOnKey = action;
  };
  return { stdin, clock, keys, leave, type, pass, onKey, timers: () => timers.size };
}

test("ESC is the Escape key if nothing follows within 50 ms", async () => {
  const { keys, type, pass } = take();
  await type("\u001b");
  await pass(49);
  expect(keys).toEqual([]);
  await pass(1);
  expect(keys).toEqual([{ name: "escape" }]);
});

test("the rest of a key that arrived while the process did not run still belongs to the key", async () => {
  const { stdin, clock, keys, type } = take();
  await type("\u001b");
  clock.pass(50);
  stdin.write("[A");
  await turn();
  expect(keys).toEqual([{ name: "up" }]);
});

test.each([
  [1000, "a small paste", ["x".repeat(255)]],
  [10_000, "a large paste", ["x".repeat(256)]],
  [10_000, "a large paste whose last piece is small", ["x".repeat(256), "y".repeat(33)]],
  [1000, "a large paste and a few keys", ["x".repeat(256), "y".repeat(32)]],
])("if nothing follows for %i ms, what arrived is inserted without an end marker: %s", async (delay, _, pieces) => {
  const { keys, type, pass } = take();
  await type(pasteBegin);
  for (const each of pieces) await type(each);
  await pass(delay - 1);
  expect(keys).toEqual([]);
  await pass(1);
  expect(keys).toEqual([{ name: "paste", text: pieces.join("") }]);
});

test("a large paste that pauses for seconds stays one paste, and none of its lines is sent", async () => {
  const { keys, type, pass } = take();
  await type(`${pasteBegin}${piece}${piece}${piece}\r`);
  await pass(9_000);
  await type(`${piece}\r`);
  await pass(9_000);
  await type(`end${pasteEnd}`);
  expect(keys).toEqual([{ name: "paste", text: `${piece}${piece}${piece}\n${piece}\nend` }]);
});

test.each(["before it is left", "by the key that leaves it"])(
  "no timer waits for the rest of incomplete input that was typed %s",
  async (when) => {
    const { keys, type, leave, timers, onKey } = take();
    if (when === "before it is left") {
      await type("\u001b");
      expect(timers()).toBe(1);
      leave();
    } else {
      onKey(leave);
      await type("q\u001b");
      expect(keys).toEqual([{ name: "text", text: "q" }]);
    }
    expect(timers()).toBe(0);
  },
);
