import { expect, test } from "vitest";
import { createEmitter, type HostEvent, MCPDiscoveryState, MCPServerStatus } from "../src/events.ts";

const connecting: HostEvent = { type: "state", state: { name: "a", since: 0, status: "connecting" } };
const changed: HostEvent = { type: "list_changed", server: "a", list: "tools" };
const completed: HostEvent = { type: "discovery", state: "completed" };

test("a listener gets the events of its type, until it stops listening", () => {
  const { on, emit } = createEmitter();
  const seen: HostEvent[] = [];
  const stop = on("state", (event) => seen.push(event));
  emit(connecting);
  emit(completed);
  stop();
  emit(connecting);
  expect(seen).toEqual([connecting]);
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
  emit(connecting);
  expect({ complaints, seen }).toEqual({ complaints: [mistake], seen: [connecting] });
});

test("what a listener causes comes after what it heard, for every listener", () => {
  const { on, emit } = createEmitter();
  const seen: HostEvent[] = [];
  on("state", () => {
    emit(changed);
    emit(completed);
  });
  on("state", (event) => seen.push(event));
  on("list_changed", (event) => seen.push(event));
  on("discovery", (event) => seen.push(event));
  emit(connecting);
  expect(seen).toEqual([connecting, changed, completed]);
});

test("the emitter delivers events that several listeners emit in the order in which they were emitted", () => {
  const { on, emit } = createEmitter();
  const seen: string[] = [];
  on("state", () => {
    emit(changed);
    emit(completed);
    emit(changed);
  });
  on("list_changed", ({ type }) => seen.push(type));
  on("discovery", ({ type }) => seen.push(type));
  emit(connecting);
  expect(seen).toEqual(["list_changed", "discovery", "list_changed"]);
  emit(completed);
  expect(seen).toHaveLength(4);
});

test("callers can compare states with these constants", () => {
  expect(MCPServerStatus).toEqual({
    DISCONNECTED: "disconnected",
    CONNECTING: "connecting",
    CONNECTED: "connected",
    DISCONNECTING: "disconnecting",
    NEEDS_AUTH: "needs_auth",
    DISABLED: "disabled",
    BLOCKED: "blocked",
  });
  expect(MCPDiscoveryState).toEqual({
    NOT_STARTED: "not_started",
    IN_PROGRESS: "in_progress",
    COMPLETED: "completed",
  });
});
