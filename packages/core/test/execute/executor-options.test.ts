import { expect, test } from "vitest";
import { isStill, optionsOf } from "../../src/execute/executor.ts";
import { clientOf, done, echo, patient } from "../support/memory-client.ts";

test("a call is sent with its limits, its signal, and with what listens to its progress", () => {
  const onProgress = (): void => {};
  const { signal } = new AbortController();
  const task = { ...echo, execution: { taskSupport: "required" } };
  const sent = { signal, timeout: patient.timeout, total: 7 };
  expect(optionsOf(task, { ...patient, onProgress }, signal, 7)).toEqual({ ...sent, asTask: true, onProgress });
  expect(optionsOf(undefined, patient, signal, 7)).toEqual({ ...sent, asTask: false });
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
