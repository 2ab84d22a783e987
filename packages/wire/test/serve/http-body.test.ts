import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { declaresMore, readBody } from "../../src/serve/http-listener.ts";
import { createDiagnostics } from "../../src/shapes/diagnostics.ts";

test.each([
  [undefined, false],
  ["0", false],
  ["10", false],
  ["11", true],
])("with a limit of 10 bytes, the declared length %j is too much: %s", (length, isMore) => {
  expect(declaresMore({ headers: { "content-length": length } } as IncomingMessage, 10)).toBe(isMore);
});

/** Reads these pieces with a limit of 10 bytes. */
function read(...pieces: readonly string[]) {
  let paused = 0;
  const source = Object.assign(new EventEmitter(), {
    pause: () => {
      paused += 1;
    },
  });
  const texts: (string | undefined)[] = [];
  readBody(source as unknown as IncomingMessage, 10, (text) => texts.push(text));
  for (const piece of pieces) source.emit("data", Buffer.from(piece, "latin1"));
  source.emit("end");
  return { texts, paused, source };
}

test("a body of up to the limit is read, also in pieces that cut a character", () => {
  expect(read().texts).toEqual([""]);
  expect(read("0123456789").texts).toEqual(["0123456789"]);
  const [first, second] = [Buffer.from("⚓").subarray(0, 1), Buffer.from("⚓").subarray(1)];
  expect(read("a", first.toString("latin1"), second.toString("latin1")).texts).toEqual(["a⚓"]);
});

test("a larger body is refused once and no longer read", () => {
  const { texts, paused } = read("01234", "567890", "more");
  expect([texts, paused]).toEqual([[undefined], 1]);
});

test("a connection error ends the body as an empty text", () => {
  const { source, texts } = read();
  expect(source.emit("error", new Error("reset"))).toBe(true);
  expect(texts).toEqual([""]);
});

test("the same diagnostic is reported the 1st, 10th and 100th time, each kind for itself", () => {
  const told: string[] = [];
  const diagnose = createDiagnostics((text) => told.push(text));
  for (let count = 1; count <= 100; count += 1) diagnose("a", `a${count}`);
  diagnose("b");
  expect(told).toEqual(["a1", "a10 (10 times by now)", "a100 (100 times by now)", "b"]);
});
