import { mcpRegistry, published, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, it } from "vitest";
import { findPublished, publishedOrigin, readPublishedName } from "../../src/registry/find-published.ts";
import { choicesOf } from "../../src/registry/launch.ts";
import { type McpRegistry, openRegistry } from "../../src/registry/mcp-registry.ts";
import { compareVersions } from "../../src/registry/versions.ts";

const name = "io.github.acme/weather";
const version = (number: string, state = {}) => published({ name, version: number }, { isLatest: false, ...state });

function opened(address: string, folder: string): McpRegistry {
  const environment = { env: {}, home: folder, cwd: folder, platform: process.platform };
  return openRegistry(address, { environment, state: folder, signal: new AbortController().signal });
}

describe("a server of a registry", () => {
  it.each([
    ["io.github.acme/weather", { name, version: undefined }],
    ["io.github.acme/weather@1.2.0", { name, version: "1.2.0" }],
    ["npx", undefined],
    ["./weather.sh", undefined],
    ["bin/weather", undefined],
    ["/usr/bin/weather", undefined],
    ["https://weather.example/mcp", undefined],
    ["@acme/weather", undefined],
  ])("%s is read as %j", (word, expected) => {
    expect(readPublishedName(word)).toEqual(expected);
  });

  it("is the version that the registry calls the latest, or the one that the user names", async () => {
    await using folder = await temporaryFolder();
    await using registry = await mcpRegistry([
      version("1.10.0"),
      version("1.9.0", { isLatest: true }),
      version("2.0.0-rc.1"),
    ]);
    const registries = [opened(registry.origin, folder.path)];

    const newest = await findPublished(registries, { name, version: undefined });
    const named = await findPublished(registries, { name, version: "1.10.0" });

    expect([newest.server.version, named.server.version, named.versions.length]).toEqual(["1.9.0", "1.10.0", 3]);
    await expect(findPublished(registries, { name, version: "3.0.0" })).rejects.toMatchObject({ code: "not_found" });
    await expect(findPublished(registries, { name, version: "^1" })).rejects.toMatchObject({ code: "usage" });
  });

  it("is never one that is deleted", async () => {
    await using folder = await temporaryFolder();
    await using registry = await mcpRegistry([
      version("1.0.0", { status: "deleted", statusMessage: "malware" }),
      version("1.1.0"),
    ]);
    await expect(
      findPublished([opened(registry.origin, folder.path)], { name, version: "1.0.0" }),
    ).rejects.toMatchObject({ code: "denied", message: expect.stringContaining("malware") });
  });

  it("comes from the first registry that has it; one that cannot be reached is not passed over", async () => {
    await using folder = await temporaryFolder();
    await using first = await mcpRegistry([published({ name: "a.b/c", version: "1.0.0" })]);
    await using second = await mcpRegistry([version("1.0.0")]);
    const [one, two] = [opened(first.origin, folder.path), opened(second.origin, folder.path)];

    const { registry } = await findPublished([one, two], { name, version: undefined });

    expect(registry).toBe(second.origin);
    const gone = opened("http://127.0.0.1:9", folder.path);
    await expect(findPublished([gone, two], { name, version: undefined })).rejects.toMatchObject({
      code: "unreachable",
    });
    await expect(findPublished([one], { name, version: undefined })).rejects.toMatchObject({ code: "not_found" });
  });

  it("leaves in the settings where it comes from", async () => {
    await using folder = await temporaryFolder();
    const program = { registryType: "npm", identifier: "weather", version: "1.0.0", transport: { type: "stdio" } };
    await using registry = await mcpRegistry([published({ name, version: "1.0.0", packages: [program] })]);
    const found = await findPublished([opened(registry.origin, folder.path)], { name, version: undefined });
    const [choice] = choicesOf(found.server);
    if (choice === undefined) throw new Error("there is no choice");

    const origin = publishedOrigin(found, choice, { inputs: { folder: "/a" } }, { kind: "proven", by: "mcpName" });

    expect(origin).toEqual({
      registry: registry.origin,
      name,
      version: "1.0.0",
      kind: "npm",
      package: "weather",
      proof: "mcpName",
      inputs: { folder: "/a" },
    });
  });
});

it("orders versions as Semantic Versioning does", () => {
  const ordered = [
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0",
    "1.2.0",
    "1.10.0",
    "v2.0.0",
  ];
  const sorted = ordered.toReversed().sort((a, b) => compareVersions(a, b) ?? 0);
  expect(sorted).toEqual(ordered);
  expect(compareVersions("2026a", "1.0.0")).toBeUndefined();
});
