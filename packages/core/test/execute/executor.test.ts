/** What an executor does before and after a call, and which have to wait: with clients in memory. */

import { getEventListeners } from "node:events";
import type { JsonObject, ToolResult } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import type { CallClient } from "../../src/execute/executor.ts";
import type { CatalogTool } from "../../src/server/catalog.ts";
import { type Answer, clientOf, done, echo, executorWith, patient } from "../support/memory-client.ts";

describe("a call", () => {
  test("is passed on as it is, with its limits, and so is its answer", async () => {
    const { client, sent } = clientOf([echo], () => done);
    const onProgress = (): void => {};
    const args = { text: "ahoy" };
    const result = await executorWith().call({ client, tool: "echo", args }, { ...patient, onProgress });
    expect(result).toStrictEqual({ content: [{ type: "text", text: "hi" }], isError: false });
    const signal = expect.any(AbortSignal) as AbortSignal;
    expect(sent).toEqual([["echo", args, { ...patient, asTask: false, onProgress, signal }]]);
  });

  test.each([{ meta: { a: 1 } }, { structuredContent: { b: 2 } }, { meta: { a: 1 }, structuredContent: { b: 2 } }])(
    "has in its result what the answer has: %j",
    async (more) => {
      const { client } = clientOf([echo], () => ({ ...done, ...more }));
      const result = await executorWith().call({ client, tool: "echo", args: { text: "" } }, patient);
      expect(result).toStrictEqual({ content: [{ type: "text", text: "hi" }], isError: false, ...more });
    },
  );

  test.each([
    ["required", true],
    ["optional", false],
    ["forbidden", false],
    [7, false],
  ])("of a tool whose support for tasks is %j: as a task: %j", async (taskSupport, asTask) => {
    const { client, sent } = clientOf([{ ...echo, execution: { taskSupport } }], () => done);
    await executorWith().call({ client, tool: "echo", args: { text: "" } }, patient);
    expect(sent[0]?.[2]).toMatchObject({ asTask });
  });

  test.each<[string, unknown, object]>([
    ["ehco", {}, { code: "tool_unknown", message: '"s" has no tool "ehco"; did you mean "echo"?' }],
    ["echo", [], { code: "arguments_invalid", message: "Invalid parameters: must be an object" }],
    ["echo", null, { code: "arguments_invalid" }],
    ["echo", "text=ahoy", { code: "arguments_invalid" }],
    [
      "echo",
      { txt: "ahoy" },
      {
        code: "arguments_invalid",
        message: 's.echo has invalid arguments: "text" is missing (did you misspell it as "txt"?)',
        next: "fairlead tools s",
      },
    ],
    ["echo", { text: 7 }, { message: 's.echo has invalid arguments: "text" must be a string' }],
  ])("of %s with %j is not sent", async (tool, args, error) => {
    const { client, sent } = clientOf([echo], () => done);
    const call = executorWith().call({ client, tool, args }, patient);
    await expect(call).rejects.toMatchObject({ serverName: "s", ...error });
    expect(sent).toEqual([]);
  });

  test("leaves out an optional argument that is null, and says so", async () => {
    const properties = { text: { type: "string" }, loud: { type: "boolean" }, note: { type: ["string", "null"] } };
    const tool = { ...echo, inputSchema: { type: "object", properties, required: ["text"] } };
    const { client, sent } = clientOf([tool], () => done);
    const call = (args: JsonObject) => executorWith().call({ client, tool: "echo", args }, patient);
    const { warnings } = await call({ text: "ahoy", loud: null, note: null });
    expect(sent.map(([, args]) => args)).toEqual([{ text: "ahoy", note: null }]);
    expect(warnings).toEqual(['left out, because the tool does not accept null: "loud"']);
    await expect(call({ text: null, loud: null })).rejects.toThrow(
      '"text" must be a string; "loud" must be true or false',
    );
    await expect(call({ text: "ahoy", loud: 7 })).rejects.toThrow('"loud" must be true or false');
    await expect(call({ text: 7, loud: null })).rejects.toThrow(
      '"text" must be a string; "loud" must be true or false',
    );
    expect(sent).toHaveLength(1);
  });

  test("tells when it is its turn, before it is sent, and lets go of its signal at its end", async () => {
    const course: string[] = [];
    const { client } = clientOf([echo], () => {
      course.push("sent");
      return done;
    });
    const { signal } = new AbortController();
    const executor = executorWith();
    const onStart = (): void => void course.push("started");
    const warnings: unknown[] = [];
    const note = (warning: unknown): void => void warnings.push(warning);
    process.on("warning", note);
    await Promise.all(
      Array.from({ length: 12 }, () =>
        executor.call({ client, tool: "echo", args: { text: "" } }, { ...patient, signal, onStart }),
      ),
    );
    await new Promise(setImmediate);
    process.off("warning", note);
    expect(course.slice(0, 1)).toEqual(["started"]);
    expect(course.toSorted()).toEqual([...Array(12).fill("sent"), ...Array(12).fill("started")]);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(warnings).toEqual([]);
  });

  test("that is cancelled already is not sent", async () => {
    const { client, sent } = clientOf([echo], () => done);
    const executor = executorWith();
    const call = { client, tool: "echo", args: { text: "ahoy" } };
    const cancelled = { code: "cancelled", message: "s.echo was cancelled before it was sent", serverName: "s" };
    await expect(executor.call(call, { ...patient, signal: AbortSignal.abort() })).rejects.toMatchObject(cancelled);
    expect(sent).toEqual([]);
  });
});

describe("warnings", () => {
  const promised = { type: "object", properties: { degrees: { type: "number" } }, required: ["degrees"] };
  const weather: CatalogTool = { ...echo, outputSchema: promised };

  test.each<[string, Partial<ToolResult>, readonly string[] | undefined]>([
    ["a promise that is kept", { structuredContent: { degrees: 20 } }, undefined],
    [
      "one that is not",
      { structuredContent: { degrees: "warm" } },
      ['the result does not match the tool\'s outputSchema: "degrees" must be a number'],
    ],
    ["nothing at all", {}, ["the tool declares an outputSchema, but its result has no structured content"]],
    ["an error, which promises nothing", { isError: true }, undefined],
    ["what had to be guessed", { structuredContent: { degrees: 1 }, notes: ["a block is odd"] }, ["a block is odd"]],
  ])("%s", async (_, given, warnings) => {
    const { client } = clientOf([weather], () => ({ ...done, ...given }));
    const result = await executorWith().call({ client, tool: "echo", args: { text: "" } }, patient);
    expect(result.content).toEqual(done.content);
    expect(result.warnings).toEqual(warnings);
  });

  test("what could not be checked is said, before and after", async () => {
    const validator = { validate: async () => ({ issues: [], warnings: ["not validated: too large"] }) };
    const { client } = clientOf([weather], () => ({ ...done, structuredContent: {} }));
    const result = await executorWith({ validator }).call({ client, tool: "echo", args: {} }, patient);
    expect(result.warnings).toEqual(["not validated: too large", "not validated: too large"]);
  });

  test("a result is delivered though its check fails", async () => {
    const validator = {
      validate: async (schema: JsonObject) => {
        if (schema === promised) throw new Error("no worker");
        return { issues: [], warnings: [] };
      },
    };
    const { client } = clientOf([weather], () => ({ ...done, structuredContent: {} }));
    const result = await executorWith({ validator }).call({ client, tool: "echo", args: {} }, patient);
    expect(result.warnings).toEqual(["the result was not checked against the tool's outputSchema: no worker"]);
  });
});

describe("waiting in line", () => {
  const one = { limits: () => ({ callsPerServer: 1, callsTotal: 64 }) };
  const call = (client: CallClient) => ({ client, tool: "echo", args: { text: "" } });

  /** A client whose answers the test gives. */
  function held() {
    const answers: (() => void)[] = [];
    const answer: Answer = (_, { signal }) =>
      new Promise((resolve, reject) => {
        answers.push(() => resolve(done));
        signal?.addEventListener("abort", () => reject(new HostError("cancelled", "s.echo: cancelled")));
      });
    return { ...clientOf([echo], answer), answers };
  }

  test("uses up none of the time, and one that is cancelled there is never sent", async () => {
    const { client, sent, answers } = held();
    const executor = executorWith(one);
    const first = executor.call(call(client), patient);
    const stop = new AbortController();
    const second = executor.call(call(client), { ...patient, signal: stop.signal });
    const third = executor.call(call(client), patient);
    stop.abort();
    await expect(second).rejects.toMatchObject({
      code: "cancelled",
      message: "s.echo was cancelled before it was sent",
    });
    answers[0]?.();
    await first;
    while (answers.length < 2) await new Promise(setImmediate);
    answers[1]?.();
    await third;
    expect(sent.map(([, , { timeout, total }]) => ({ timeout, total }))).toEqual([patient, patient]);
  });

  test("a signal that several calls share cancels what waits and what runs", async () => {
    const { client, sent } = held();
    const executor = executorWith(one);
    const stop = new AbortController();
    const how = { ...patient, signal: stop.signal };
    const calls = Promise.allSettled([executor.call(call(client), how), executor.call(call(client), how)]);
    while (sent.length === 0) await new Promise(setImmediate);
    stop.abort();
    expect((await calls).map((end) => end.status === "rejected" && (end.reason as HostError).message)).toEqual([
      "s.echo: cancelled",
      "s.echo was cancelled before it was sent",
    ]);
    expect(sent).toHaveLength(1);
  });

  test("a tool that is another one by the time it is its turn is not called", async () => {
    const { client, sent, answers } = held();
    const executor = executorWith(one);
    const first = executor.call(call(client), patient);
    const changing = { ...client };
    const second = executor.call(call(changing), patient);
    while (sent.length === 0) await new Promise(setImmediate);
    Object.assign(changing, {
      filteredCatalog: clientOf([{ ...echo, description: "now something else" }], () => done).client.filteredCatalog,
    });
    answers[0]?.();
    await first;
    await expect(second).rejects.toMatchObject({ code: "changed", serverName: "s" });
    expect(sent).toHaveLength(1);
  });
});

test("a call that has waited for its turn elsewhere does not wait again", async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { client, sent } = clientOf([echo], async ({ text }) => {
    if (text === "slow") await held;
    return done;
  });
  const executor = executorWith({ limits: () => ({ callsPerServer: 1, callsTotal: 1 }) });
  const call = (text: string, isInTurn?: boolean) =>
    executor.call({ client, tool: "echo", args: { text } }, { ...patient, isInTurn });
  const slow = [call("slow"), call("quick")];
  await call("own", true);
  expect(new Set(sent.map(([, { text }]) => text))).toEqual(new Set(["slow", "own"]));
  release();
  await Promise.all(slow);
  expect(sent.map(([, { text }]) => text).at(-1)).toBe("quick");
});
