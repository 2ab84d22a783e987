import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import { createOutbox, type OutboxOptions } from "../../src/stdio/outbox.ts";
import { turn } from "../support/collected.ts";
import { failure } from "../support/memory-server.ts";

interface Pipe {
  readonly stdin: Writable;
  /** The texts or bytes of the writes that began, in order. */
  readonly writes: (string | Buffer)[];
  /** Ends the write that waits, with an error if one is given. */
  readonly take: (error?: Error) => void;
  readonly isEnded: () => boolean;
}

/** The stdin of a program that reads at once, or only when a test says so. */
function pipe(isStuck: boolean): Pipe {
  const writes: (string | Buffer)[] = [];
  const waiting: ((error?: Error) => void)[] = [];
  let isEnded = false;
  const stdin = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      writes.push(text);
      if (isStuck) waiting.push(done);
      else done();
    },
    final(done) {
      isEnded = true;
      done();
    },
  });
  stdin.on("error", () => undefined);
  return { stdin, writes, take: (error) => waiting.shift()?.(error), isEnded: () => isEnded };
}

function outboxTo({ stdin }: Pipe, options: Partial<OutboxOptions> = {}) {
  return createOutbox(stdin, { messageBytes: 1000, unsentBytes: 1000, deadline: 60_000, ...options });
}

describe("messages to a program", () => {
  test("of one tick are written together, as lines", async () => {
    const to = pipe(false);
    const outbox = outboxTo(to);
    const [one, two] = [outbox.send({ id: 1 }), outbox.send({ text: "ä" })];
    expect(to.writes).toEqual([]);
    expect(one).toBe(two);
    await one;
    expect(to.writes).toEqual(['{"id":1}\n{"text":"ä"}\n']);
    await outbox.send({ id: 3 });
    expect(to.writes).toHaveLength(2);
  });

  test("wait for the write before them, and are then written together", async () => {
    const to = pipe(true);
    const outbox = outboxTo(to);
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    const first = outbox.send({ id: 1 }).then(note("first"));
    await turn();
    const later = [outbox.send({ id: 2 }).then(note("second")), outbox.send({ id: 3 }).then(note("third"))];
    await turn();
    expect([to.writes, order]).toEqual([['{"id":1}\n'], []]);
    to.take();
    await first;
    await turn();
    expect(to.writes).toEqual(['{"id":1}\n', '{"id":2}\n{"id":3}\n']);
    expect(order).toEqual(["first"]);
    to.take();
    await Promise.all(later);
    expect(order).toEqual(["first", "second", "third"]);
  });

  test("above 1 MB are written as bytes of their own, in the order in which all were sent", async () => {
    const to = pipe(false);
    const outbox = outboxTo(to, { messageBytes: 2 ** 22, unsentBytes: 2 ** 24 });
    const large = "ä".repeat(600_000);
    const messages = [{ id: 1 }, { id: 2, large }, { id: 3, large }, { id: 4 }, { id: 5 }, { id: 6, large }];
    await Promise.all(messages.map((message) => outbox.send(message)));
    expect(to.writes.map((chunk) => Buffer.isBuffer(chunk))).toEqual([true, true, true, true, true]);
    expect(to.writes.join("")).toBe(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    expect(outbox.waiting()).toBe(0);
    await outbox.send({ id: 7 });
    expect(to.writes.at(-1)).toBe('{"id":7}\n');
  });

  test("have a limit each, in bytes with the line end", async () => {
    const to = pipe(false);
    const outbox = outboxTo(to, { messageBytes: 12 });
    await outbox.send({ a: "ä1" });
    const error = await failure(outbox.send({ a: "ä12" }));
    expect([error.code, error.message, error.evidence]).toEqual([
      "too_large",
      "a message of 13 bytes is larger than the limit messageBytes (12)",
      { unsent: true },
    ]);
    expect(to.writes).toHaveLength(1);
  });

  test("are refused while so many bytes wait as may, because the program does not read", async () => {
    const to = pipe(true);
    const outbox = outboxTo(to, { unsentBytes: 18, reader: "the client" });
    expect(outbox.below(1)).toBeUndefined();
    const first = outbox.send({ id: 1 });
    const second = outbox.send({ id: 2 });
    const third = outbox.send({ id: 3 });
    const error = await failure(third);
    expect([error.code, error.message, error.evidence]).toEqual([
      "send_blocked",
      "the client reads too slowly: 18 bytes wait, and the limit unsentBytes is 18",
      { unsent: true },
    ]);
    expect(outbox.send({ id: 4 })).toBe(third);
    await turn();
    // What is being written counts too.
    expect(outbox.send({ id: 5 })).toBe(third);
    expect(outbox.below(19)).toBeUndefined();
    const fewer = outbox.below(18);
    to.take();
    await Promise.all([first, second, fewer]);
    // A large message is accepted while less waits.
    const small = outbox.send({ id: 6 });
    await turn();
    const large = outbox.send({ text: "x".repeat(100) });
    const other = outbox.send({ id: 7 });
    expect(other).not.toBe(third);
    expect(await failure(other)).toMatchObject({ message: expect.stringContaining("121 bytes wait") });
    to.take();
    await small;
    await turn();
    to.take();
    await large;
    const lost = outbox.send({ id: 8 });
    const never = outbox.below(1);
    outbox.fail(new WireError("closed", "over"));
    await failure(lost);
    await never;
    expect(outbox.waiting()).toBe(0);
  });

  test("that are cancelled or not JSON are not sent", async () => {
    const to = pipe(false);
    const outbox = outboxTo(to);
    const cancelled = await failure(outbox.send({ id: 1 }, AbortSignal.abort()));
    expect([cancelled.code, cancelled.message, cancelled.evidence]).toEqual([
      "cancelled",
      "cancelled by the caller",
      { unsent: true },
    ]);
    const cause = new Error("no");
    const params = {
      toJSON() {
        throw cause;
      },
    };
    const invalid = await failure(outbox.send({ params }));
    expect([invalid.code, invalid.message, invalid.evidence, invalid.cause]).toEqual([
      "bad_message",
      "the message cannot be written as JSON: no",
      { unsent: true },
      cause,
    ]);
    await outbox.send({ id: 2 }, new AbortController().signal);
    expect(to.writes).toEqual(['{"id":2}\n']);
  });
});

describe("a program that does not read in time", () => {
  test("fails the message that is being written, and the ones behind it, which were not sent", async () => {
    const to = pipe(true);
    const outbox = outboxTo(to, { deadline: 1 });
    const begun = failure(outbox.send({ id: 1 }));
    await turn();
    const queued = failure(outbox.send({ id: 2 }));
    const message = "the server did not read its stdin for 1 ms";
    expect([await begun, await queued].map(({ code, message, evidence }) => [code, message, evidence])).toEqual([
      ["send_blocked", message, {}],
      ["send_blocked", message, { unsent: true }],
    ]);
    // The message that was not sent is forgotten; the one that began is finished first.
    const last = outbox.send({ id: 3 });
    to.take();
    await turn();
    expect(to.writes).toEqual(['{"id":1}\n', '{"id":3}\n']);
    to.take();
    await last;
  });

  test("has room again for other messages when those that waited are given up", async () => {
    const to = pipe(true);
    const outbox = outboxTo(to, { deadline: 1, unsentBytes: 18 });
    const begun = failure(outbox.send({ id: 1 }));
    await turn();
    const queued = failure(outbox.send({ id: 2 }));
    const full = outbox.send({ id: 3 });
    await Promise.all([begun, queued, failure(full)]);
    const next = outbox.send({ id: 4 });
    expect(next).not.toBe(full);
    to.take();
    await turn();
    to.take();
    await next;
    expect(to.writes).toEqual(['{"id":1}\n', '{"id":4}\n']);
  });
});

describe("the end of the pipe", () => {
  test("comes at once if nothing waits, and once", async () => {
    const to = pipe(false);
    const outbox = outboxTo(to);
    outbox.end();
    outbox.end();
    await turn();
    expect(to.isEnded()).toBe(true);
  });

  test("comes after everything that waits was written", async () => {
    const to = pipe(true);
    const outbox = outboxTo(to);
    const sent = [outbox.send({ id: 1 })];
    await turn();
    sent.push(outbox.send({ id: 2 }));
    outbox.end();
    await turn();
    expect([to.stdin.writableEnded, to.writes.length]).toEqual([false, 1]);
    to.take();
    await turn();
    expect([to.stdin.writableEnded, to.writes.length]).toEqual([false, 2]);
    to.take();
    await Promise.all(sent);
    await turn();
    expect(to.isEnded()).toBe(true);
  });

  test("writes messages of the same tick first", async () => {
    const to = pipe(false);
    const outbox = outboxTo(to);
    const sent = outbox.send({ id: 1 });
    outbox.end();
    await sent;
    expect(to.writes).toEqual(['{"id":1}\n']);
    await turn();
    expect(to.isEnded()).toBe(true);
  });

  test("lets later messages wait for the cause, and they were not sent", async () => {
    const to = pipe(false);
    const outbox = outboxTo(to);
    outbox.end();
    const [one, two] = [outbox.send({ id: 1 }), outbox.send({ id: 2 })];
    expect(one).toBe(two);
    const cause = new WireError("exited", "gone", { exitCode: 3 });
    outbox.fail(cause);
    const error = await failure(one);
    expect([error.code, error.message, error.evidence, error.cause]).toEqual([
      "exited",
      "gone",
      { exitCode: 3, unsent: true },
      cause,
    ]);
    expect(to.writes).toEqual([]);
  });

  test("by a failure rejects what is written with the cause, what waits as unsent, and later messages with the first cause", async () => {
    const to = pipe(true);
    const outbox = outboxTo(to);
    const begun = failure(outbox.send({ id: 1 }));
    await turn();
    const queued = failure(outbox.send({ id: 2 }));
    const cause = new WireError("exited", "gone", { exitCode: 3 });
    outbox.fail(cause);
    outbox.fail(new WireError("closed", "later"));
    expect(await begun).toBe(cause);
    expect((await queued).evidence).toEqual({ exitCode: 3, unsent: true });
    const late = await failure(outbox.send({ id: 3 }));
    expect([late.code, late.evidence]).toEqual(["exited", { exitCode: 3, unsent: true }]);
    to.take();
    await turn();
    expect(to.writes).toEqual(['{"id":1}\n']);
  });

  test("during a write leaves the message open until the cause is known", async () => {
    const to = pipe(true);
    const outbox = outboxTo(to);
    let isSettled = false;
    const sent = failure(outbox.send({ id: 1 })).finally(() => {
      isSettled = true;
    });
    await turn();
    to.take(new Error("EPIPE"));
    await turn();
    expect(isSettled).toBe(false);
    const cause = new WireError("exited", "gone");
    outbox.fail(cause);
    expect(await sent).toBe(cause);
  });

  test("is no unhandled rejection for a sender that does not wait", async () => {
    // The guard fails this test if a rejection is not handled.
    const outbox = outboxTo(pipe(true));
    void outbox.send({ id: 1 });
    outbox.fail(new WireError("exited", "gone"));
    void outbox.send({ id: 2 });
    await turn();
  });

  test("before a write leaves the message unsent", async () => {
    const to = pipe(false);
    const outbox = outboxTo(to);
    to.stdin.destroy();
    const sent = failure(outbox.send({ id: 1 }));
    await turn();
    outbox.fail(new WireError("exited", "gone"));
    expect((await sent).evidence).toEqual({ unsent: true });
    expect(to.writes).toEqual([]);
  });
});
