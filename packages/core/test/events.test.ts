import { expect, test } from "vitest";
import { createEmitter, type HostEvent } from "../src/events.ts";

const connected: HostEvent = { type: "state", state: { name: "a", status: "connected" } };
const completed: HostEvent = { type: "discovery", state: "completed" };

test("a listener gets the events of its type, until it stops listening", () => {
  const { on, emit } = createEmitter();
  const seen: HostEvent[] = [];
  const stop = on("state", (event) => seen.push(event));
  emit(connected);
  emit(completed);
  stop();
  emit(connected);
  expect(seen).toEqual([connected]);
});

test("a listener that throws is complained about, and the others still hear", () => {
  const complaints: unknown[] = [];
  const { on, emit } = createEmitter((error) => complaints.push(error));
  const mistake = new Error("mine");
  const seen: HostEvent[] = [];
  on("state", () => {
    throw mistake;
  });
  on("state", (event) => seen.push(event));
  emit(connected);
  expect({ complaints, seen }).toEqual({ complaints: [mistake], seen: [connected] });
});
