import { mcpRegistry, published } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../support/machine.ts";

const npm = { registryType: "npm", identifier: "weather", version: "1.2.0", transport: { type: "stdio" } };
const weather = published(
  {
    name: "io.github.acme/weather",
    title: "Weather",
    description: "Forecasts.",
    version: "1.2.0",
    packages: [npm],
    remotes: [{ type: "streamable-http", url: "https://weather.example/mcp" }],
  },
  { status: "deprecated", statusMessage: "Use weather2." },
);

test("the user finds a server with its version, kinds and state, as text and as JSON", async () => {
  await using registry = await mcpRegistry([weather]);
  await using here = await machine({ [userFile]: { fairlead: { registries: [registry.origin] } } });

  const text = await here.run("mcp", "search", "forecasts");
  const json = await here.run("mcp", "search", "forecasts", "--json");

  expect([text.code, text.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^io\.github\.acme\/weather {2}1\.2\.0 \(\d+ days old\) {2}npm, remote\n {2}Weather: Forecasts\.\n {2}deprecated: Use weather2\.\n/,
    ),
  ]);
  expect(text.stderr).not.toContain("mcp add");
  expect(JSON.parse(json.stdout)).toEqual({
    schemaVersion: 1,
    servers: [
      {
        name: "io.github.acme/weather",
        title: "Weather",
        description: "Forecasts.",
        version: "1.2.0",
        publishedAt: "2026-01-02T03:04:05Z",
        status: "deprecated",
        statusMessage: "Use weather2.",
        kinds: ["npm", "remote"],
        registry: registry.origin,
      },
    ],
    refused: [],
    unreachable: [],
  });
});

test("the command below the list adds the first active server, from the same registry", async () => {
  const fine = published({ name: "a.b/fine", version: "1.0.0", description: "Weather.", packages: [npm] });
  const gone = published({ name: "a.b/gone", version: "1.0.0", description: "Weather." }, { status: "deleted" });
  await using registry = await mcpRegistry([gone, weather, fine]);
  await using here = await machine();
  const { stdout, stderr } = await here.run("mcp", "search", "weather", "--registry", registry.origin);
  expect(stdout).toContain("a.b/gone");
  expect(stderr).toBe(`next: fairlead mcp add --registry ${registry.origin} a.b/fine\n`);
});

test("of a very long text the list shows the beginning, on one line", async () => {
  const long = published({
    name: "a.b/long",
    version: "1.0.0",
    description: `first\nnext: run this ${"x".repeat(3000)}`,
  });
  await using registry = await mcpRegistry([long]);
  await using here = await machine();
  const { stdout } = await here.run("mcp", "search", "a.b", "--registry", registry.origin);
  const [, line = ""] = stdout.split("\n");
  expect(line).toMatch(/^ {2}first.*x…$/);
  expect(line.length).toBeLessThan(310);
});

test("a page ends with the command for the next one", async () => {
  const items = ["one", "two", "three"].map((name) => published({ name: `a.b/${name}`, version: "1.0.0" }));
  await using registry = await mcpRegistry(items);
  await using here = await machine();

  const first = await here.run("mcp", "search", "--registry", registry.origin, "--limit", "2", "a.b");
  const next = /next page: fairlead (.*)\n/.exec(first.stderr)?.[1] ?? "";
  const second = await here.run(...next.split(" "));

  expect(first.stdout.match(/^a\.b\/\w+/gm)).toEqual(["a.b/one", "a.b/two"]);
  expect(second.stdout.match(/^a\.b\/\w+/gm)).toEqual(["a.b/three"]);
  expect(second.stderr).not.toContain("next page");
});

test("without network the user sees what is on disk and its age; where there is nothing, exit code 4", async () => {
  await using here = await machine();
  let address = "";
  {
    await using registry = await mcpRegistry([weather]);
    address = registry.origin;
    await here.run("mcp", "search", "--registry", address, "weather");
  }

  const kept = await here.run("mcp", "search", "--registry", address, "weather");
  const document = JSON.parse((await here.run("mcp", "search", "--registry", address, "weather", "--json")).stdout);
  const nothing = await here.run("mcp", "search", "--registry", "http://127.0.0.1:9", "weather");

  expect([kept.code, kept.stdout]).toEqual([0, expect.stringContaining("io.github.acme/weather")]);
  expect(kept.stderr).toMatch(/^\S+ cannot be reached: ECONNREFUSED; \S+ is shown as of less than a minute ago$/m);
  expect(document).toMatchObject({ servers: [{}], age: expect.any(Number), unreachable: [{ registry: address }] });
  expect([nothing.code, nothing.stderr.split("\n").filter((line) => line !== "")]).toEqual([
    4,
    [expect.stringContaining("127.0.0.1:9")],
  ]);
});

test("text of a publisher cannot move the cursor or hide anything", async () => {
  const hostile = published({ name: "a.b/c", version: "1.0.0", description: "\u001b[2J\u202eevil\nname  1.0" });
  await using registry = await mcpRegistry([hostile]);
  await using here = await machine();

  const { stdout } = await here.run("mcp", "search", "--registry", registry.origin, "a.b");

  const hidden = stdout
    .split("")
    .filter((character) => character !== "\n" && (character < " " || character === "\u202e"));
  expect(hidden).toEqual([]);
  expect(stdout.split("\n")).toHaveLength(4);
});

test("a workspace cannot set a registry", async () => {
  await using registry = await mcpRegistry([weather]);
  await using here = await machine({
    [userFile]: { fairlead: { registries: [registry.origin] } },
    [projectFile]: { fairlead: { registries: ["http://127.0.0.1:9"] } },
  });

  const { code, stderr } = await here.run("mcp", "search", "--trust-workspace", "weather");

  expect(code).toBe(0);
  expect(stderr).not.toContain("127.0.0.1:9");
  expect(registry.seen.length).toBeGreaterThan(0);
});

test.each([
  [["mcp", "search", " "], /no word/],
  [["mcp", "search", "x", "--limit", "0"], /--limit "0"/],
  [["mcp", "search", "x", "--registry", "http://registry.example"], /must begin with https/],
  [["mcp", "search", "x", "--registry", "http://127.0.0.1:9", "--cursor", "zzz"], /cursor/],
])("%j is refused", async (argv, message) => {
  await using here = await machine();
  const { code, stderr } = await here.run(...argv);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});
