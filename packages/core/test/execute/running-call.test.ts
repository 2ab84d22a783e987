import { expect, test } from "vitest";
import { isStill, optionsOf } from "../../src/execute/running-call.ts";
import { clientOf, done, echo, patient } from "../support/memory-client.ts";

test("a call is sent with its limits, with what listens to its progress, and with the kind of signal that it has", () => {
  const onProgress = (): void => {};
  const { signal } = new AbortController();
  const ignore = (): void => {};
  const stop = {
    aborted: false,
    reason: undefined,
    signal,
    throwIfAborted: ignore,
    abort: ignore,
    onAbort: () => ignore,
  };
  const task = { ...echo, execution: { taskSupport: "required" } };
  expect(optionsOf(task, { ...patient, onProgress }, signal, 7)).toEqual({
    signal,
    stop: undefined,
    timeout: patient.timeout,
    total: 7,
    asTask: true,
    onProgress,
  });
  expect(optionsOf(undefined, patient, stop, 7)).toEqual({
    signal: undefined,
    stop,
    timeout: patient.timeout,
    total: 7,
    asTask: false,
    onProgress: undefined,
  });
});

test("a tool is still the same if its definition is, or if the server lists it neither before nor now", () => {
  const listed = clientOf([echo], () => done).client;
  const other = clientOf([{ ...echo, description: "now something else" }], () => done).client;
  const empty = clientOf([], () => done).client;
  const gone = { ...listed, filteredCatalog: undefined };
  const clients = [listed, other, empty, gone];
  expect(clients.map((client) => isStill(client, "echo", { ...echo }))).toEqual([true, false, false, false]);
  expect(clients.map((client) => isStill(client, "echo", undefined))).toEqual([false, false, true, true]);
});
