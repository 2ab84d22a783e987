import { PassThrough } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import type { ReadStream, WriteStream } from "node:tty";
import { expect, onTestFinished, test } from "vitest";
import type { Key } from "../../src/tui/input/keys.ts";
import { takeTerminal } from "../../src/tui/terminal.ts";
import { handClock } from "../support/hand-clock.ts";

const pasteBegin = "\u001b[200~";
const pasteEnd = "\u001b[201~";
const largePiece = "x".repeat(256);

/** A terminal whose keys are collected. `pass` moves the clock, and lets Node read what was typed before. */
function take() {
  const stdin = Object.assign(new PassThrough(), { setRawMode: () => stdin });
  const stdout = new PassThrough();
  const clock = handClock();
  const keys: Key[] = [];
  const leave = takeTerminal(
    { stdin: stdin as unknown as ReadStream, stdout: stdout as unknown as WriteStream },
    (key) => keys.push(key),
    () => {},
    clock,
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
  return { stdin, clock, keys, leave, type, pass };
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
  ["a small piece", "half of it", 1000],
  ["a large piece", largePiece, 10_000],
])("a paste without an end is inserted a while after %s", async (_, piece, delay) => {
  const { keys, type, pass } = take();
  await type(`${pasteBegin}${piece}`);
  await pass(delay - 1);
  expect(keys).toEqual([]);
  await pass(1);
  expect(keys).toEqual([{ name: "paste", text: piece }]);
});

test("a large paste that pauses for seconds stays one paste, and none of its lines is sent", async () => {
  const { keys, type, pass } = take();
  await type(`${pasteBegin}${largePiece}\r`);
  await pass(9_000);
  await type(`${largePiece}\r`);
  await pass(9_000);
  await type(`end${pasteEnd}`);
  expect(keys).toEqual([{ name: "paste", text: `${largePiece}\n${largePiece}\nend` }]);
});

test("after the terminal was left, no key arrives from input that was not complete", async () => {
  const { keys, type, leave, pass } = take();
  await type("\u001b");
  leave();
  await pass(50);
  expect(keys).toEqual([]);
});
