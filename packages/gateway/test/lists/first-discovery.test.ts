import type { Server } from "@fairlead/core/server/server";
import { expect, test } from "vitest";
import { discoverUnknown } from "../../src/lists/first-discovery.ts";
import type { ClientWorkspace } from "../../src/workspaces.ts";
import { steppedClock } from "../support/stepped-clock.ts";

/** A host with one server without a catalog. `start` resolves when the test says that the tools are listed. */
function hostWith(status: string, failedStarts: readonly string[] = []) {
  const serverNow = () => ({ name: "books", catalog: undefined, state: { status }, shareOf: () => "all" });
  let server = serverNow();
  const clock = steppedClock();
  const firstStarts = new WeakMap<Server, number>();
  const started: unknown[] = [];
  let listed = (): void => {};
  const listing = new Promise<void>((resolve) => {
    listed = resolve;
  });
  const host = {
    gateway: { servers: { find: () => server } },
    failedStarts: async () => failedStarts.map((name) => ({ server: name })),
    start(options: unknown) {
      started.push(options);
      return listing;
    },
  };
  const workspace = { host, firstStarts, lacksCatalogOf: () => false } as unknown as ClientWorkspace;
  /** Returns what happened to the request of a new client: it `waits` for the server or `goes on`. */
  async function request(tried = new WeakSet<Server>()): Promise<"waits" | "goes on"> {
    const end = discoverUnknown(["books"], { workspace, clock, era: "modern", tried });
    const later = new Promise<"waits">((resolve) => setImmediate(() => resolve("waits")));
    return Promise.race([end.then(() => "goes on" as const), later]);
  }
  const redefine = (): void => {
    server = serverNow();
  };
  return { clock, redefine, started, request, listed };
}

test.each([
  ["disconnected", "waits"],
  ["connecting", "waits"],
  ["connected", "waits"],
  ["disabled", "goes on"],
  ["blocked", "goes on"],
])("a first list of a server that is %s and has no catalog %s", async (status, outcome) => {
  const { request, started, listed } = hostWith(status);
  expect(await request()).toBe(outcome);
  expect(started).toEqual(outcome === "waits" ? [{ servers: ["books"] }] : []);
  listed();
});

test("a first list does not wait for a server that failed recently", async () => {
  expect(await hostWith("disconnected", ["books"]).request()).toBe("goes on");
});

test("a client waits for a server once, and once more if its entry in the settings has changed", async () => {
  const { request, listed, redefine } = hostWith("connecting");
  const tried = new WeakSet<Server>();
  expect(await request(tried)).toBe("waits");
  expect(await request(tried)).toBe("goes on");
  redefine();
  expect(await request(tried)).toBe("waits");
  expect(await request(tried)).toBe("goes on");
  listed();
});

test.each(["connecting", "connected"])(
  "requests of all clients together wait two seconds for a server that is %s",
  async (status) => {
    const { clock, request, listed } = hostWith(status);
    expect(await request()).toBe("waits");
    clock.pass(1999);
    expect(await request()).toBe("waits");
    clock.pass(1);
    expect(await request()).toBe("goes on");
    listed();
  },
);

test("the two seconds of a server that is started again begin again", async () => {
  const { clock, request, listed } = hostWith("disconnected");
  expect(await request()).toBe("waits");
  clock.pass(2000);
  expect(await request()).toBe("waits");
  listed();
});
