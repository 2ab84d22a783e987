import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import { createOutbox } from "../../src/stdio/outbox.ts";
import { failure, openServer, program, script } from "../support/stdio-server.ts";

/** Whether the signal has stopped the process; true on systems without `/proc`. */
function isStopped(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(") ") + 2).startsWith("T");
  } catch {
    return true;
  }
}

describe("a server that does not read", () => {
  /** Alive, but stopped: it reads nothing until it is woken. */
  async function stopped(options: Parameters<typeof openServer>[1]) {
    const server = await openServer(
      script(`console.log(JSON.stringify({ pid: process.pid })); let size = 0;
        process.stdin.on("data", (chunk) => { size += chunk.length; if (chunk.includes(10)) console.log(JSON.stringify({ size })); });`),
      options,
    );
    const [hello] = await server.arrived(1);
    const pid = Number(hello?.["pid"]);
    process.kill(pid, "SIGSTOP");
    // On another core the server may read on for a moment.
    while (!isStopped(pid)) await new Promise((resolve) => setImmediate(resolve));
    return { ...server, wake: () => process.kill(pid, "SIGCONT") };
  }
  const big = { text: "x".repeat(1024 * 1024) };

  test("a message that cannot leave fails at the deadline; one that had not begun to leave says so", async () => {
    await using server = await stopped({ times: { send: 100 } });
    const first = server.channel.send(big);
    // The next tick: a write of its own, which has to wait for the first.
    await new Promise((resolve) => setImmediate(resolve));
    const [begun, queued] = await Promise.all([failure(first), failure(server.channel.send({ id: 2 }))]);
    expect(begun).toMatchObject({ code: "send_blocked" });
    expect(begun.evidence.unsent).toBeUndefined();
    expect(queued).toMatchObject({ code: "send_blocked", evidence: { unsent: true } });
  });

  test("no more than the limit waits for it", async () => {
    await using server = await stopped({ limits: { unsentBytes: 2 * 1024 * 1024 } });
    const sends = [server.channel.send(big), server.channel.send(big), server.channel.send(big)];
    const error = await failure(Promise.all(sends));
    expect(error).toMatchObject({ code: "send_blocked", evidence: { unsent: true } });
    expect(error.message).toContain("unsentBytes");
    server.wake();
    expect((await Promise.allSettled(sends)).map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
  });

  test("when it reads again, everything that was not given up arrives whole", async () => {
    await using server = await stopped({});
    const sends = [server.channel.send(big), server.channel.send({ id: 2 })];
    await new Promise((resolve) => setImmediate(resolve));
    sends.push(server.channel.send({ id: 3 }));
    server.wake();
    await Promise.all(sends);
    const total = JSON.stringify(big).length + 1 + 2 * '{"id":2}\n'.length;
    const sizes = () => server.messages.map(({ size }) => size);
    while (!sizes().includes(total)) await server.arrived(server.messages.length + 1);
  });

  test("its death fails what is on the way, without an uncaught error", async () => {
    await using server = await stopped({});
    const sent = failure(server.channel.send(big));
    const [hello] = server.messages;
    process.kill(Number(hello?.["pid"]), "SIGKILL");
    expect(await sent).toMatchObject({ code: "exited", evidence: { signal: "SIGKILL" } });
  });

  test("it is ended all the same", async () => {
    const server = await stopped({ times: { endGrace: 50, termGrace: 50 } });
    const sent = failure(server.channel.send(big));
    await server.channel.close();
    expect(await sent).toMatchObject({ code: "closed" });
  });
});

describe("messages that cannot be sent", () => {
  test("because the pipe is gone: they wait for the news why, and have certainly not left", async () => {
    const pipe = new PassThrough();
    const outbox = createOutbox(pipe, { messageBytes: 1000, unsentBytes: 1000, deadline: 60_000 });
    pipe.destroy();
    const error = failure(outbox.send({ id: 1 }));
    await new Promise((resolve) => setImmediate(resolve));
    outbox.fail(new WireError("exited", "gone", { exitCode: 1 }));
    expect(await error).toMatchObject({ code: "exited", evidence: { exitCode: 1, unsent: true } });
  });

  test("because the pipe is destroyed during the write: they fail with the cause, and may have left", async () => {
    const child = spawn("sleep", ["60"], { stdio: ["pipe", "ignore", "ignore"] });
    const exited = once(child, "exit");
    const { stdin } = child;
    const outbox = createOutbox(stdin, { messageBytes: 2 ** 21, unsentBytes: 2 ** 21, deadline: 60_000 });
    const error = failure(outbox.send({ text: "x".repeat(1024 * 1024) }));
    await new Promise((resolve) => setImmediate(resolve));
    stdin.destroy();
    await once(stdin, "close");
    outbox.fail(new WireError("exited", "gone", { exitCode: 1 }));
    child.kill();
    await exited;
    const { code, evidence } = await error;
    expect({ code, evidence }).toEqual({ code: "exited", evidence: { exitCode: 1 } });
  });

  test("over the limit", async () => {
    await using server = await openServer(program("echo.mjs"), { limits: { messageBytes: 100 } });
    const error = await failure(server.channel.send({ text: "x".repeat(200) }));
    expect(error).toMatchObject({ code: "too_large", evidence: { unsent: true } });
  });

  test("not JSON", async () => {
    await using server = await openServer(program("echo.mjs"));
    const error = await failure(server.channel.send({ big: 1n }));
    expect(error).toMatchObject({ code: "bad_message", evidence: { unsent: true } });
  });

  test("cancelled before", async () => {
    await using server = await openServer(program("echo.mjs"));
    const error = await failure(server.channel.send({}, { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: "cancelled", evidence: { unsent: true } });
  });
});
