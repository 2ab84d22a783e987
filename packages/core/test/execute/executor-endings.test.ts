/** What is left behind when a call ends, whichever way it does: with clients in memory. */

import type { JsonObject, ToolResult } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import type { CallClient } from "../../src/execute/executor.ts";
import type { Validation } from "../../src/execute/validation/validation.ts";
import type { CatalogTool } from "../../src/server/catalog.ts";
import { clientOf, done, echo, executorWith, patient } from "../support/memory-client.ts";

const one = { limits: () => ({ callsPerServer: 1, callsTotal: 64 }) };
const callOf = (client: CallClient, text = "") => ({ client, tool: "echo", args: { text } });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A client whose answers the test gives, in the order of the calls. */
function held(tool: CatalogTool = echo) {
  const answers: ((result: ToolResult | Error) => void)[] = [];
  const memory = clientOf(
    [tool],
    (_, { signal }) =>
      new Promise((resolve, reject) => {
        answers.push((result) => (result instanceof Error ? reject(result) : resolve(result)));
        signal?.addEventListener("abort", () => reject(new HostError("cancelled", "s.echo: cancelled")));
      }),
  );
  return { ...memory, answers };
}

describe("the place of a call is free, and closing waits for it no longer,", () => {
  const failing = async (): Promise<Validation> => {
    throw new Error("no worker");
  };
  const accepting = async (): Promise<Validation> => ({ issues: [], warnings: [] });
  const output: CatalogTool = { ...echo, outputSchema: { type: "object" } };
  test.each<[string, CatalogTool, () => ToolResult, (() => Promise<Validation>) | undefined]>([
    ["when it was answered", echo, () => done, undefined],
    ["when its result was checked", output, () => done, undefined],
    ["when its arguments were checked in a thread", echo, () => done, accepting],
    [
      "when the server failed",
      echo,
      () => {
        throw new HostError("protocol", "odd");
      },
      undefined,
    ],
    ["when its check failed", echo, () => done, failing],
  ])("%s", async (_, tool, answer, validate) => {
    const { client } = clientOf([tool], answer);
    const executor = executorWith({ ...one, ...(validate && { validator: { validate } }) });
    const ends = await Promise.allSettled(Array.from({ length: 3 }, () => executor.call(callOf(client), patient)));
    const again = await Promise.allSettled([executor.call(callOf(client), patient)]);
    expect(new Set([...ends, ...again].map(({ status }) => status)).size).toBe(1);
  });

  test("when it could not start", async () => {
    const { client, sent } = clientOf([echo], () => done);
    const executor = executorWith(one);
    const onStart = (): never => {
      throw new Error("no start");
    };
    const starting = { ...patient, onStart };
    const calls = [executor.call(callOf(client), starting), executor.call(callOf(client), patient)];
    expect(await Promise.allSettled(calls)).toMatchObject([
      { status: "rejected", reason: { message: "no start" } },
      { status: "fulfilled" },
    ]);
    const busy = executor.call(callOf(client, "first"), patient);
    await expect(executor.call(callOf(client), starting)).rejects.toThrow("no start");
    await busy;
    await executor.call(callOf(client, "last"), patient);
    expect(sent.map(([, { text }]) => text)).toEqual(["", "first", "last"]);
  });

  test("when it was turned away", async () => {
    const { client, sent, answers } = held();
    const executor = executorWith({ ...one, queuePerServer: 1 });
    const calls = [1, 2].map(() => executor.call(callOf(client), patient));
    await expect(executor.call(callOf(client), patient)).rejects.toMatchObject({ code: "busy", serverName: "s" });
    while (answers.length < 1) await turn();
    answers[0]?.(done);
    while (answers.length < 2) await turn();
    answers[1]?.(done);
    await Promise.all(calls);
    expect(sent).toHaveLength(2);
  });

  test.each<[string, Error | undefined, object]>([
    ["is read before it is sent", undefined, { message: expect.stringContaining("changed while the call waited") }],
    ["cannot be read", new Error("no list"), { message: "no list" }],
  ])("when its server reported a change while it waited, which %s", async (_, failure, expected) => {
    const { client, sent, answers } = held();
    const executor = executorWith(one);
    const first = executor.call(callOf(client), patient);
    const changing = {
      ...client,
      async upToDate() {
        Object.assign(changing, { filteredCatalog: clientOf([], () => done).client.filteredCatalog });
        if (failure) throw failure;
      },
    };
    const second = executor.call(callOf(changing), patient);
    while (answers.length < 1) await turn();
    answers[0]?.(done);
    await first;
    await expect(second).rejects.toMatchObject(expected);
    expect(sent).toHaveLength(1);
    const third = executor.call(callOf(client), patient);
    while (answers.length < 2) await turn();
    answers[1]?.(done);
    await third;
  });

  test("when its tool had changed before its turn came", async () => {
    const { client, answers } = held();
    const executor = executorWith(one);
    const first = executor.call(callOf(client), patient);
    const changing = { ...client };
    const second = executor.call(callOf(changing), patient);
    while (answers.length < 1) await turn();
    Object.assign(changing, { filteredCatalog: clientOf([], () => done).client.filteredCatalog });
    answers[0]?.(done);
    await first;
    await expect(second).rejects.toMatchObject({
      code: "changed",
      message: "s.echo was not called: its definition changed while the call waited",
      next: "fairlead tools s",
    });
    const third = executor.call(callOf(client), patient);
    while (answers.length < 2) await turn();
    answers[1]?.(done);
    await third;
  });
});

describe("while its arguments are checked in a thread,", () => {
  /** An executor whose checks the test ends. */
  function checked() {
    const checks: ((validation: Validation | Error) => void)[] = [];
    const validate = (): Promise<Validation> =>
      new Promise((resolve, reject) => {
        checks.push((validation) => (validation instanceof Error ? reject(validation) : resolve(validation)));
      });
    return { checks, executor: executorWith({ ...one, validator: { validate } }) };
  }
  const fine = { issues: [], warnings: [] };

  test("a tool may change: it is not called then", async () => {
    const { checks, executor } = checked();
    const { client, sent } = clientOf([echo], () => done);
    const changing = { ...client };
    const call = executor.call(callOf(changing), patient);
    Object.assign(changing, {
      filteredCatalog: clientOf([{ ...echo, description: "another" }], () => done).client.filteredCatalog,
    });
    checks[0]?.(fine);
    await expect(call).rejects.toMatchObject({ code: "changed", serverName: "s" });
    expect(sent).toEqual([]);
  });

  test("a call may be cancelled: the check's failure is not told then, and otherwise it is", async () => {
    const { checks, executor } = checked();
    const { client, sent } = clientOf([echo], () => done);
    const stop = new AbortController();
    const cancelled = executor.call(callOf(client), { ...patient, signal: stop.signal });
    const failed = executor.call(callOf(client), patient);
    stop.abort("enough");
    for (const end of checks) end(new Error("no worker"));
    await expect(cancelled).rejects.toMatchObject({
      code: "cancelled",
      message: "s.echo was cancelled before it was sent",
      cause: "enough",
    });
    await expect(failed).rejects.toThrow("no worker");
    expect(sent).toEqual([]);
  });

  test("a call that is cancelled does not wait for its turn after its check", async () => {
    const { checks, executor } = checked();
    const { client, answers } = held();
    const running = executor.call(callOf(client), patient);
    checks[0]?.(fine);
    while (answers.length < 1) await turn();
    const stop = new AbortController();
    const cancelled = executor.call(callOf(client), { ...patient, signal: stop.signal });
    stop.abort("enough");
    checks[1]?.(fine);
    await expect(cancelled).rejects.toMatchObject({ code: "cancelled", cause: "enough" });
    answers[0]?.(done);
    await running;
  });
});

test("a call of a gateway's client is sent as it is, also if the server does not list the tool", async () => {
  const { client, sent } = clientOf([echo], () => done);
  const executor = executorWith();
  const forward = (name: string, args: JsonObject) => {
    const params = { name, arguments: args, extra: 1 };
    const raw = { params, options: { meta: { traceparent: "00" } }, owner: "window 1" };
    return executor.call({ client, tool: name, args, raw }, patient);
  };
  expect(await forward("echo", { text: "a" })).toEqual(done);
  expect(await forward("unlisted", { text: "a" })).toEqual(done);
  const options = { ...patient, meta: { traceparent: "00" }, owner: "window 1" };
  expect(sent).toEqual([
    ["s.echo", { name: "echo", arguments: { text: "a" }, extra: 1 }, expect.objectContaining(options)],
    ["s.unlisted", { name: "unlisted", arguments: { text: "a" }, extra: 1 }, expect.objectContaining(options)],
  ]);
  await expect(forward("echo", { text: 7 })).rejects.toMatchObject({ code: "arguments_invalid" });
});
