import { HostError } from "@fairlead/core/errors";
import type { ServerState } from "@fairlead/core/events";
import type { Host } from "@fairlead/core/host";
import { until } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { connectServer, lookUp, namesOf } from "../../src/targets/look-up.ts";
import { writtenOutput } from "../support/written-output.ts";

interface Given {
  /** The servers of the host, in the order of the settings. */
  readonly servers?: readonly string[];
  /** Servers with a cached catalog. */
  readonly cached?: readonly string[];
  /** Servers that cannot be reached. */
  readonly down?: readonly string[];
  /** Servers that failed to start in an earlier run. */
  readonly failed?: readonly string[];
  /** Replaces the connection attempt. */
  readonly start?: Host["start"];
}

/** A host that writes down to which servers it connects. */
function hostOf({ servers = ["a", "b", "c"], cached = [], down = [], failed = [], start }: Given) {
  const started: (readonly string[])[] = [];
  const connected = new Set<string>();
  const state = (name: string): ServerState =>
    (connected.has(name)
      ? { name, since: 0, status: "connected" }
      : {
          name,
          since: 0,
          status: "disconnected",
          reason: "server_exited",
          message: `${name} exited`,
          next: `look at ${name}`,
        }) as unknown as ServerState;
  const host = {
    recall: () => Promise.resolve(cached.map((server) => ({ server }))),
    states: () => servers.map(state),
    failedStarts: () =>
      Promise.resolve(
        failed.map((server) => ({ server, message: `${server} failed`, failedAt: 0, nextTryAt: Number.MAX_VALUE })),
      ),
    on: () => () => {},
    start:
      start ??
      (({ servers: names = [] }: { readonly servers?: readonly string[] }) => {
        started.push(names);
        for (const name of names) if (!down.includes(name)) connected.add(name);
        return Promise.resolve();
      }),
  } as unknown as Host;
  return { host, started, connected };
}

const missing = new HostError("usage", "there is no such prompt");

interface Search {
  readonly named?: readonly string[];
  readonly isOpen?: boolean;
  readonly servers?: readonly string[];
  readonly wait?: number;
  /** The connected or cached server that has the prompt. */
  readonly owner?: string;
}

async function found(given: Given, { named = [], isOpen = true, owner, ...search }: Search) {
  const { host, started, connected } = hostOf(given);
  const { context, stderr } = writtenOutput();
  const known = (name: string): boolean => connected.has(name) || (given.cached ?? []).includes(name);
  const find = (): string | HostError => (owner !== undefined && known(owner) ? owner : missing);
  const result = await lookUp({ named, isOpen, find, ...search }, host, context).catch((error: unknown) => error);
  return { result, started, stderr: stderr() };
}

describe("the user names a prompt or a resource", () => {
  test("that a cached catalog has: Fairlead connects to no server", async () => {
    expect(await found({ cached: ["b"] }, { owner: "b" })).toEqual({ result: "b", started: [], stderr: "" });
    expect(await found({ cached: ["b"] }, { owner: "b", named: ["b"] })).toEqual({
      result: "b",
      started: [],
      stderr: "",
    });
  });

  test("of a server without a cached catalog: Fairlead connects to that server only", async () => {
    expect(await found({ cached: ["a"] }, { owner: "b", named: ["a", "b"] })).toEqual({
      result: "b",
      started: [["b"]],
      stderr: "",
    });
  });

  test("of no server in particular: Fairlead connects to the servers without a cached catalog", async () => {
    expect(await found({ cached: ["a"] }, { owner: "c" })).toEqual({ result: "c", started: [["b", "c"]], stderr: "" });
    expect((await found({}, { owner: "c", servers: ["a", "c"] })).started).toEqual([["a", "c"]]);
    expect((await found({}, { owner: "c", wait: 100_000 })).result).toBe("c");
  });

  test("of a server whose cached catalog lacks it: Fairlead connects to the server, in case the catalog is old", async () => {
    expect(await found({ cached: ["a"] }, { named: ["a"], isOpen: false })).toEqual({
      result: missing,
      started: [["a"]],
      stderr: "",
    });
    expect((await found({ cached: ["a"] }, { named: ["a"], isOpen: true, owner: "b" })).started).toEqual([
      ["a", "b", "c"],
    ]);
  });

  test("of a server that cannot be reached: the user learns why", async () => {
    const { result, stderr } = await found({ down: ["a", "b"] }, { named: ["b"], isOpen: false });
    expect(result).toMatchObject({ code: "server_exited", next: "look at b" });
    expect(stderr).toBe("");
  });

  test("that no server has: the user learns which other servers could not be asked", async () => {
    const { result, started, stderr } = await found({ down: ["b"], failed: ["c", "elsewhere"] }, {});
    expect({ result, started }).toEqual({ result: missing, started: [["a", "b"]] });
    expect(stderr).toMatch(
      /^.*b exited.*\n {2}next: look at b\nc failed \(tried .*\)\n {2}next: to try the server now: npx --no -- fairlead mcp test c\n$/,
    );
  });

  test("and waits no longer than the limit", async () => {
    const start: Host["start"] = (options) =>
      new Promise((_resolve, reject) => {
        const late = new HostError("cancelled", "late");
        if (options?.signal?.aborted) reject(late);
        options?.signal?.addEventListener("abort", () => reject(late), { once: true });
      });
    expect((await found({ start }, { wait: 0 })).result).toBe(missing);
  });

  test("and a failure before the limit is passed on", async () => {
    const failure = new HostError("internal", "broken");
    const { result } = await found({ start: () => Promise.reject(failure) }, { wait: 100_000 });
    expect(result).toBe(failure);
  });
});

describe("the user names a prompt that several servers have: the first of them in the settings counts", () => {
  /** Looks for a prompt that the servers `owners` have. They are in the order of the settings. */
  async function lookUpOf(given: Given, owners: readonly string[], search: Search = {}) {
    const { host, started, connected } = hostOf(given);
    const isLoaded = (name: string): boolean => connected.has(name) || (given.cached ?? []).includes(name);
    const find = (): string | HostError => owners.find(isLoaded) ?? missing;
    const byName = {
      serverOf: (owner: string) => owner,
      commandFor: (server: string) => `fairlead prompt ${server}.p`,
    };
    const wanted = { named: [], isOpen: true, find, byName, ...search };
    return { result: await lookUp(wanted, host, writtenOutput().context), started };
  }

  test("Fairlead starts the server before the cached one, and not the server behind it", async () => {
    expect(await lookUpOf({ cached: ["b"] }, ["a", "b", "c"])).toEqual({ result: "a", started: [["a"]] });
    expect(await lookUpOf({ cached: ["b"] }, ["b", "c"])).toEqual({ result: "b", started: [["a"]] });
    expect(await lookUpOf({ cached: ["a"] }, ["a", "b"])).toEqual({ result: "a", started: [] });
  });

  test("the cached server counts if the one before it does not start, failed to start recently, or is not to be searched", async () => {
    expect(await lookUpOf({ cached: ["b"], down: ["a"] }, ["a", "b"])).toEqual({ result: "b", started: [["a"]] });
    expect(await lookUpOf({ cached: ["b"], failed: ["a"] }, ["a", "b"])).toEqual({ result: "b", started: [] });
    expect(await lookUpOf({ cached: ["b"] }, ["a", "b"], { isOpen: false })).toEqual({ result: "b", started: [] });
    expect(await lookUpOf({ cached: ["b"] }, ["b"], { servers: ["c"] })).toEqual({ result: "b", started: [] });
  });
});

describe("while servers connect", () => {
  /** A host without cached catalogs. Its servers connect when the test says so. */
  function slowHost(servers: readonly string[]) {
    const { host, connected } = hostOf({
      servers,
      start: ({ signal } = {}) =>
        new Promise((_resolve, reject) => {
          const late = new HostError("cancelled", "waiting was cancelled");
          signal?.addEventListener("abort", () => reject(late), { once: true });
        }),
    });
    const listeners: ((event: { readonly state: ServerState }) => void)[] = [];
    const on = (type: string, listener: (typeof listeners)[number]): (() => void) => {
      if (type === "state") listeners.push(listener);
      return () => undefined;
    };
    function settle(name: string): void {
      connected.add(name);
      const state = { name, since: 0, status: "connected", offer: {} } as unknown as ServerState;
      for (const listener of listeners) listener({ state });
    }
    return { host: { ...host, on } as unknown as Host, connected, settle, isWaiting: () => listeners.length > 0 };
  }

  /** Looks for a prompt that `owners` have, while the servers connect in this order. */
  async function resultOf(owners: readonly string[], order: readonly string[]) {
    const { host, connected, settle, isWaiting } = slowHost(["a", "b", "c", "d"]);
    const find = (): string | HostError => owners.find((name) => connected.has(name)) ?? missing;
    const byName = { serverOf: (owner: string) => owner, commandFor: (server: string) => server };
    let result: unknown;
    const looking = lookUp({ named: [], isOpen: true, find, byName }, host, writtenOutput().context).then((found) => {
      result = found;
    });
    await until(isWaiting);
    const settled: string[] = [];
    for (const name of order) {
      settle(name);
      settled.push(name);
      await new Promise(setImmediate);
      if (result !== undefined) break;
    }
    await looking;
    return { result, settled };
  }

  test("a server that connects late still counts before those behind it", async () => {
    expect(await resultOf(["b", "c"], ["c", "d", "b", "a"])).toEqual({ result: "b", settled: ["c", "d", "b", "a"] });
    expect(await resultOf(["a", "d"], ["d", "c", "a", "b"])).toEqual({ result: "a", settled: ["d", "c", "a"] });
  });

  test("Fairlead waits only for the servers before the one that has the name", async () => {
    expect(await resultOf(["b"], ["a", "b", "c", "d"])).toEqual({ result: "b", settled: ["a", "b"] });
    expect(await resultOf(["b"], ["b", "c", "a", "d"])).toEqual({ result: "b", settled: ["b", "c", "a"] });
    expect(await resultOf(["a"], ["a"])).toEqual({ result: "a", settled: ["a"] });
  });

  test("a server that hangs does not hold up a name that a server behind it has: the user learns which command to use", async () => {
    const ask = (cached: readonly string[]) => {
      const { host, connected, settle, isWaiting } = slowHost(["a", "b", "c"]);
      const known = { ...host, recall: async () => cached.map((server) => ({ server })) } as unknown as Host;
      const find = (): string | HostError => (connected.has("c") || cached.includes("c") ? "c" : missing);
      const byName = { serverOf: (owner: string) => owner, commandFor: (server: string) => `prompt ${server}.p` };
      const search = { named: [], isOpen: true, find, byName, rivalTimeout: 10 };
      const looking = lookUp(search, known, writtenOutput().context).catch((error: unknown) => error);
      return { looking, settle, isWaiting };
    };
    const refusal = (servers: string) => ({
      code: "usage",
      message: expect.stringContaining(`the name is ambiguous: ${servers} before "c" in your settings`),
      next: 'to use "c" at once: prompt c.p',
    });
    const uncached = ask([]);
    await until(uncached.isWaiting);
    uncached.settle("b");
    uncached.settle("c");
    expect(await uncached.looking).toMatchObject(refusal('"a" comes'));
    expect(await ask(["c"]).looking).toMatchObject(refusal('"a", "b" come'));
  });

  test("an error of the search, such as an ambiguous name, does not end the wait, but is passed on at the end", async () => {
    const { host, connected, settle, isWaiting } = slowHost(["a", "b"]);
    const ambiguous = new HostError("usage", "ambiguous");
    const find = (): string | HostError => {
      if (connected.has("b") && !connected.has("a")) throw ambiguous;
      return connected.has("a") ? "a" : missing;
    };
    const byName = { serverOf: (owner: string) => owner, commandFor: (server: string) => server };
    const looking = lookUp({ named: [], isOpen: true, find, byName }, host, writtenOutput().context);
    await until(isWaiting);
    settle("b");
    settle("a");
    expect(await looking).toBe("a");
  });
});

test("Fairlead connects to one server, or says why it cannot", async () => {
  const { host, started } = hostOf({ down: ["b"] });
  const { context } = writtenOutput();
  expect(namesOf(host)).toEqual(["a", "b", "c"]);
  await connectServer("a", host, context);
  await connectServer("unknown", host, context);
  await expect(connectServer("b", host, context)).rejects.toMatchObject({ code: "server_exited" });
  expect(started).toEqual([["a"], ["unknown"], ["b"]]);
});
