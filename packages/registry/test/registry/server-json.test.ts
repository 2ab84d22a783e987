import { describe, expect, it } from "vitest";
import { isRefused, isRegistryName, readServerJson } from "../../src/registry/server-json.ts";

const weather = {
  server: {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: "io.github.acme/weather",
    title: "Weather",
    description: "Forecasts.",
    version: "1.2.0",
    repository: { url: "https://github.com/acme/weather", source: "github" },
    packages: [
      {
        registryType: "npm",
        identifier: "@acme/weather",
        version: "1.2.0",
        transport: { type: "stdio" },
        packageArguments: [
          { type: "named", name: "--units", choices: ["metric", "imperial"], default: "metric" },
          { type: "positional", valueHint: "folder", format: "filepath", isRequired: true, isRepeated: true },
        ],
        environmentVariables: [{ name: "WEATHER_KEY", isRequired: true, isSecret: true, description: "Your key" }],
      },
    ],
    remotes: [{ type: "streamable-http", url: "https://{host}/mcp", variables: { host: { default: "a.example" } } }],
  },
  _meta: {
    "io.modelcontextprotocol.registry/official": {
      status: "deprecated",
      statusMessage: "Use weather2.",
      publishedAt: "2026-01-02T03:04:05Z",
      isLatest: true,
    },
  },
};

function whyRefused(value: unknown): string | undefined {
  const read = readServerJson(value);
  return isRefused(read) ? read.why : undefined;
}

describe("server.json", () => {
  it("gives the server with the state that its registry publishes", () => {
    const read = readServerJson(weather);

    expect(read).toMatchObject({
      name: "io.github.acme/weather",
      version: "1.2.0",
      status: "deprecated",
      statusMessage: "Use weather2.",
      isLatest: true,
      packages: [{ identifier: "@acme/weather", environmentVariables: [{ name: "WEATHER_KEY", isSecret: true }] }],
      remotes: [{ url: "https://{host}/mcp", variables: { host: { default: "a.example" } } }],
    });
  });

  it("refuses the old form, with the server's name", () => {
    const packages = [{ registry_type: "npm", identifier: "x", version: "1.0.0" }];

    const read = readServerJson({ server: { ...weather.server, packages } });

    expect(read).toEqual({
      name: "io.github.acme/weather",
      why: 'it has the old form of server.json ("registry_type")',
    });
  });

  it.each([
    ["a name without a namespace", { name: "weather" }],
    ["a name with a second slash", { name: "a/b/c" }],
    ["a version range", { version: "^1.2.0" }],
    ["a tag", { version: "latest" }],
    ["a version of any patch", { version: "1.2.x" }],
    ["a version with two bounds", { version: ">=1 <2" }],
    ["a text that is too long", { description: "x".repeat(5_000) }],
    ["a null character", { title: "a\0b" }],
    ["a list that is none", { packages: {} }],
    ["too many packages", { packages: Array.from({ length: 65 }, () => weather.server.packages[0]) }],
    [
      "an argument of an unknown type",
      { packages: [{ ...weather.server.packages[0], packageArguments: [{ type: "x" }] }] },
    ],
  ])("refuses %s", (_, change) => {
    expect(whyRefused({ server: { ...weather.server, ...change } })).toBeTypeOf("string");
  });

  it("refuses what is not a server at all, whatever it is", () => {
    for (const value of [null, undefined, 7, "x", [], {}, { server: 1 }, { server: { name: {} } }])
      expect(whyRefused(value)).toBeTypeOf("string");
  });

  it("takes a name of a registry for one, and nothing that is an option, a path or an address", () => {
    expect(["io.github.acme/weather", "com.example/a_b-c.d"].filter((name) => !isRegistryName(name))).toEqual([]);
    const others = ["weather", "-a/b", "./a/b", "a/b/c", "https://a/b", "a/b c", "a/", "/b", "@acme/weather", "a/b\n"];
    expect(others.filter(isRegistryName)).toEqual([]);
  });
});
