import { stdioServer, until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { HeapGrowth } from "../../src/bridge/heap-growth.ts";
import { gatewayScene } from "../support/gateway-scene.ts";

const megabyte = 1024 * 1024;

/** A heap of which `live` megabytes are in use after a collection. */
function scene() {
  const heap = { used: 20, live: 20, collections: 0, isFilling: false };
  const growth = new HeapGrowth({
    used() {
      if (heap.isFilling) heap.used += 40;
      return heap.used * megabyte;
    },
    collect() {
      heap.collections += 1;
      heap.used = heap.live;
    },
  });
  return { heap, growth };
}

test("garbage is collected when the heap has grown by 32 MB, and not before", () => {
  const { heap, growth } = scene();
  growth.check();
  heap.used = 51;
  growth.check();
  expect(heap.collections).toBe(0);
  heap.used = 52;
  growth.check();
  expect(heap).toMatchObject({ collections: 1, used: 20 });
});

test("memory that is still in use after a collection is no reason to collect again", () => {
  const { heap, growth } = scene();
  growth.check();
  Object.assign(heap, { used: 200, live: 180 });
  for (let each = 0; each < 100; each += 1) growth.check();
  expect(heap.collections).toBe(1);
});

test("small messages never cause a collection, however much the heap grows", () => {
  const { heap, growth } = scene();
  growth.check();
  for (let each = 0; each < 1000; each += 1) {
    heap.used += 0.9;
    growth.check();
  }
  expect(heap.collections).toBe(0);
  heap.used += 31;
  growth.check();
  expect(heap.collections).toBe(0);
  heap.used += 1;
  growth.check();
  expect(heap.collections).toBe(1);
});

test("a later check comes in the next turn, once for all that ask for it in this turn", async () => {
  const { heap, growth } = scene();
  growth.check();
  heap.used = 60;
  heap.live = 60;
  growth.checkSoon();
  growth.checkSoon();
  await Promise.resolve();
  expect(heap.collections).toBe(0);
  heap.used = 200;
  await new Promise((resolve) => setImmediate(resolve));
  expect(heap).toMatchObject({ collections: 1, used: 60 });
});

test("after a collection of V8's own, growth counts from there", () => {
  const { heap, growth } = scene();
  heap.used = 45;
  growth.check();
  heap.used = 20;
  growth.check();
  heap.used = 52;
  growth.check();
  expect(heap.collections).toBe(1);
});

test("the collector frees V8's heap, and leaves no flag behind", () => {
  const { heap } = scene();
  const growth = new HeapGrowth({ used: () => heap.used * megabyte });
  growth.check();
  heap.used = 100;
  const dropped = new WeakRef({ text: "x".repeat(megabyte) });
  return new Promise<void>((resolve) => {
    // A WeakRef keeps its target until the end of the turn in which it was made.
    setImmediate(() => {
      growth.check();
      expect(dropped.deref()).toBeUndefined();
      expect(globalThis.gc).toBeUndefined();
      resolve();
    });
  });
});

test("the gateway looks at the heap when a large result has arrived and when its response was written, in both eras", async () => {
  const { heap, growth } = scene();
  await using gateway = await gatewayScene({ servers: { big: stdioServer("large-result") }, heap: growth });
  for (const era of ["legacy", "modern"] as const) {
    const client = await gateway.client({ era });
    const call = () => client.request("tools/call", { name: "write", arguments: { size: 10 } });
    await call();
    heap.collections = 0;
    // Each look finds 40 MB more garbage than the one before.
    heap.isFilling = true;
    await call();
    await until(() => heap.collections === 2);
    heap.isFilling = false;
    await call();
    expect(heap.collections).toBe(2);
  }
});
