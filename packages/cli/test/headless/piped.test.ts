import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { createServer } from "node:net";
import { PassThrough } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "@fairlead/core/clock";
import { expect, test } from "vitest";
import { readPiped } from "../../src/headless/piped.ts";
import { handClock } from "../support/hand-clock.ts";

/** Reading has begun; what is said about it is written down. With `fd`, stdin is what this file descriptor is. */
function begin(fd?: number) {
  const stdin = Object.assign(new PassThrough(), fd === undefined ? {} : { fd });
  const [clock, said] = [handClock(), [] as string[]];
  const leave = new AbortController();
  const read = readPiped({ stdin, signal: leave.signal }, { say: (text) => void said.push(text) }, clock);
  return { stdin, clock, said, leave, read };
}

test("a shell's pipe is read to its end, however late it comes; that it is waited for is said once", async () => {
  const { stdin, clock, said, read } = begin();
  clock.pass(1999);
  expect(said).toEqual([]);
  clock.pass(1);
  await turn();
  expect(said).toEqual(["waiting for stdin; to skip it, add: < /dev/null"]);
  clock.pass(1_000_000);
  await turn();
  stdin.write("late ");
  stdin.end("is not too late\n");
  expect(await read).toBe("late is not too late\n");
  expect(said).toHaveLength(1);
});

test("once something has come, the rest is waited for without a word", async () => {
  const [stdin, hand, said] = [new PassThrough(), handClock(), [] as string[]];
  let tell: (() => void) | undefined;
  const hasCome = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const clock: Clock = {
    now: () => hand.now(),
    after(milliseconds, action) {
      const callOff = hand.after(milliseconds, action);
      return () => {
        callOff();
        tell?.();
      };
    },
  };
  const { signal } = new AbortController();
  const read = readPiped({ stdin, signal }, { say: (text) => void said.push(text) }, clock);
  stdin.write("one ");
  await hasCome;
  hand.pass(1_000_000);
  await turn();
  stdin.end("two");
  expect([await read, said]).toEqual(["one two", []]);
});

test("of what comes in time nothing is said", async () => {
  const { stdin, clock, said, read } = begin();
  stdin.end("now");
  expect(await read).toBe("now");
  clock.pass(1_000_000);
  await turn();
  expect(said).toEqual([]);
});

test("input that arrived while the process did not run is read, although the two seconds are over", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = (server as unknown as { readonly _handle: { readonly fd: number } })._handle;
  const { stdin, clock, said, read } = begin(socket.fd);
  clock.pass(2000);
  stdin.write("just in time");
  await turn();
  stdin.end();
  expect([await read, said]).toEqual(["just in time", []]);
  const silent = begin(socket.fd);
  silent.clock.pass(2000);
  expect([await silent.read, silent.said]).toEqual([
    undefined,
    ["stdin sent nothing within 2 s; continuing without it"],
  ]);
  server.close();
});

test("nothing is said about a file or /dev/null, which end by themselves", async () => {
  for (const path of [process.execPath, "/dev/null"]) {
    const file = openSync(path, "r");
    const { stdin, clock, said, read } = begin(file);
    clock.pass(1_000_000);
    await turn();
    stdin.end("late");
    expect([await read, said]).toEqual(["late", []]);
    closeSync(file);
  }
});

test("a pipe that is empty is none, and nothing of a terminal is read", async () => {
  const { stdin, read } = begin();
  stdin.end();
  expect(await read).toBeUndefined();
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  terminal.end("typed");
  const { signal } = new AbortController();
  expect(await readPiped({ stdin: terminal, signal }, { say: () => {} }, handClock())).toBeUndefined();
});

test("Ctrl-C ends the reading, and the pipe is let go", async () => {
  const { stdin, leave, read } = begin();
  leave.abort();
  expect(await read).toBeUndefined();
  expect(stdin.destroyed).toBe(true);
});
