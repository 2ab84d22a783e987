import { HostError } from "@fairlead/core/errors";
import { mcpRegistry, type PublishedItem, published, scaled, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, it } from "vitest";
import { openRegistry, type RegistryContext } from "../../src/registry/mcp-registry.ts";
import { searchRegistries } from "../../src/registry/search.ts";

const weather = (n: number, more = {}): PublishedItem =>
  published({
    name: `io.github.acme${n}/weather-${n}`,
    version: "1.0.0",
    description: `Forecasts number ${n}.`,
    ...more,
  });

function placeIn(folder: string): RegistryContext {
  const environment = { env: {}, home: folder, cwd: folder, platform: process.platform };
  return { environment, state: folder, signal: new AbortController().signal };
}

const failureOf = (work: Promise<unknown>): Promise<HostError> =>
  work.then(
    () => {
      throw new Error("it succeeded");
    },
    (error: HostError) => error,
  );

const endless = (nextCursor: (count: number) => string) => {
  let count = 0;
  return mcpRegistry([], {
    reply(_request, response) {
      count += 1;
      response.end(JSON.stringify({ servers: [], metadata: { nextCursor: nextCursor(count) } }));
      return true;
    },
  });
};

describe("search in registries", () => {
  it("finds the servers whose name, title or description contain every word, page by page", async () => {
    await using folder = await temporaryFolder();
    const items = Array.from({ length: scaled(20_000) }, (_, n) => weather(n));
    items.splice(1_500, 0, published({ name: "com.example/notes", version: "2.0.0", title: "Notes WITH weather" }));
    await using registry = await mcpRegistry(items);
    const registries = [openRegistry(registry.origin, placeIn(folder.path))];

    const two = await searchRegistries(registries, { words: ["weather", "notes"], limit: 10 });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await searchRegistries(registries, { words: ["weather"], limit: 333, cursor });
      names.push(...page.found.map(({ server }) => server.name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);

    expect(two.found.map(({ server }) => server.name)).toEqual(["com.example/notes"]);
    expect(names).toEqual(items.map(({ server }) => server.name));
  });

  it("asks the registries in their order, and goes on from one to the next", async () => {
    await using folder = await temporaryFolder();
    await using first = await mcpRegistry([weather(1), weather(2)]);
    await using second = await mcpRegistry([weather(3)]);
    const registries = [first, second].map(({ origin }) => openRegistry(origin, placeIn(folder.path)));

    const one = await searchRegistries(registries, { words: ["forecasts"], limit: 2 });
    const two = await searchRegistries(registries, { words: ["forecasts"], limit: 2, cursor: one.nextCursor });

    expect(one.found.map(({ registry }) => registry)).toEqual([first.origin, first.origin]);
    expect(two.found.map(({ server }) => server.name)).toEqual(["io.github.acme3/weather-3"]);
    expect(two.nextCursor).toBeUndefined();
    const foreign = await failureOf(searchRegistries(registries.slice(0, 1), { words: [], limit: 2, cursor: "W10" }));
    expect(foreign.code).toBe("usage");
  });

  it.each([
    ["repeat", () => "again", /sends the same cursor again/],
    ["never end", (count: number) => `cursor ${count}`, /its pages do not end/],
  ])("stops at a registry whose cursors %s", async (_, nextCursor, message) => {
    await using folder = await temporaryFolder();
    await using registry = await endless(nextCursor);

    const failure = await failureOf(
      searchRegistries([openRegistry(registry.origin, placeIn(folder.path))], { words: ["x"], limit: 5 }),
    );

    expect(failure.code).toBe("flooding");
    expect(failure.message).toMatch(message);
  });

  it("shows what is on disk while the registry cannot be reached, with its age, also for other words", async () => {
    await using folder = await temporaryFolder();
    const later = { ...placeIn(folder.path), now: () => Date.now() + 3_600_000 };
    let address = "";
    {
      await using registry = await mcpRegistry([weather(1), weather(2)]);
      address = registry.origin;
      await searchRegistries([openRegistry(address, placeIn(folder.path))], { words: ["weather"], limit: 5 });
    }

    const same = await searchRegistries([openRegistry(address, later)], { words: ["weather"], limit: 5 });
    const other = await searchRegistries([openRegistry(address, later)], { words: ["number 2"], limit: 5 });

    expect(same.found).toHaveLength(2);
    expect(same.kept[0]?.age).toBeGreaterThanOrEqual(3_600_000);
    expect(other.found.map(({ server }) => server.name)).toEqual(["io.github.acme2/weather-2"]);
    expect(other.kept[0]?.why.code).toBe("unreachable");
  });

  it("fails if no registry answers and nothing is on disk; one that answers is enough", async () => {
    await using folder = await temporaryFolder();
    await using registry = await mcpRegistry([weather(1)]);
    const gone = openRegistry("http://127.0.0.1:9", placeIn(folder.path));

    const failure = await failureOf(searchRegistries([gone], { words: [], limit: 5 }));
    const both = await searchRegistries([gone, openRegistry(registry.origin, placeIn(folder.path))], {
      words: [],
      limit: 5,
    });

    expect(failure.code).toBe("unreachable");
    expect(both.found).toHaveLength(1);
    expect(both.failed.map(({ registry: address }) => address)).toEqual(["http://127.0.0.1:9"]);
  });

  it("asks again with the ETag, and takes the answer from disk if nothing has changed", async () => {
    await using folder = await temporaryFolder();
    await using registry = await mcpRegistry([weather(1)]);
    const opened = openRegistry(registry.origin, placeIn(folder.path));

    const before = await opened.versions("io.github.acme1/weather-1");
    const after = await opened.versions("io.github.acme1/weather-1");

    expect(after.servers).toEqual(before.servers);
    expect(after.kept).toBeUndefined();
    expect(registry.seen.map(({ headers }) => headers["if-none-match"] !== undefined)).toEqual([false, true]);
  });

  it("reads a file or a folder as a registry, without the network", async () => {
    await using folder = await temporaryFolder();
    const old = published({ name: "a.b/c", version: "1.0.0", description: "old" }, { isLatest: false });
    const file = await folder.write("registry.json", { servers: [old, weather(1)] });
    await folder.write("many/one.json", { name: "x.y/z", version: "1.10.0" });
    await folder.write("many/two.json", { name: "x.y/z", version: "1.9.0" });
    const place = placeIn(folder.path);

    const listed = await searchRegistries([openRegistry(file, place), openRegistry("~/many", place)], {
      words: [],
      limit: 10,
    });

    expect(listed.found.map(({ server: { name, version } }) => `${name} ${version}`)).toEqual([
      "a.b/c 1.0.0",
      "io.github.acme1/weather-1 1.0.0",
      "x.y/z 1.10.0",
    ]);
    const missing = await failureOf(openRegistry(file, place).versions("no.such/server"));
    expect(missing.code).toBe("not_found");
  });

  it.each([
    "http://registry.example",
    "ftp://registry.example",
    "https://me:secret@registry.example",
    "https://r.example/?x",
  ])("refuses the address %s", async (address) => {
    await using folder = await temporaryFolder();
    expect(() => openRegistry(address, placeIn(folder.path))).toThrow(HostError);
  });

  it("names the servers that it does not read, and shows the others", async () => {
    await using folder = await temporaryFolder();
    const old = weather(2, { packages: [{ registry_name: "npm", name: "x" }] });
    await using registry = await mcpRegistry([weather(1), old]);

    const { found, refused } = await searchRegistries([openRegistry(registry.origin, placeIn(folder.path))], {
      words: ["weather"],
      limit: 5,
    });

    expect(found).toHaveLength(1);
    expect(refused.map(({ name }) => name)).toEqual(["io.github.acme2/weather-2"]);
  });

  it("follows no redirect into a private network", async () => {
    await using folder = await temporaryFolder();
    await using registry = await mcpRegistry([], {
      reply(_request, response) {
        response.writeHead(302, { location: "http://10.0.0.1/v0.1/servers" }).end();
        return true;
      },
    });

    const failure = await failureOf(
      searchRegistries([openRegistry(registry.origin, placeIn(folder.path))], { words: [], limit: 5 }),
    );

    expect(failure.code).toBe("denied");
  });
});
