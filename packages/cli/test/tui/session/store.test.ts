import { expect, test } from "vitest";
import { Store } from "../../../src/tui/session/store.ts";
import { idle } from "../../support/tui/app-state.ts";

const told = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("listeners are notified once for many events, after the events, and again for later ones", async () => {
  const store = new Store(idle);
  const seen: string[] = [];
  const stop = store.subscribe(() => void seen.push(`first ${store.get().items.length}`));
  store.subscribe(() => void seen.push(`second ${store.get().items.length}`));
  for (const text of ["a", "b"]) store.dispatch({ type: "note", tone: "info", text });
  expect([store.get().items.length, seen]).toEqual([2, []]);
  await told();
  expect(seen.splice(0)).toEqual(["first 2", "second 2"]);
  await told();
  expect(seen).toEqual([]);
  stop();
  store.dispatch({ type: "note", tone: "info", text: "c" });
  await told();
  expect(seen).toEqual(["second 3"]);
});

test("an event that changes nothing notifies no listener", async () => {
  const store = new Store(idle);
  const seen: string[] = [];
  store.subscribe(() => void seen.push("told"));
  store.dispatch({ type: "drawn", key: "no such question" });
  await told();
  expect([seen, store.get()]).toEqual([[], idle]);
});
