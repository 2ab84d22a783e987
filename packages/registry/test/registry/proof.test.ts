import { HostError } from "@fairlead/core/errors";
import { npmRegistry, temporaryFolder, type WebReply, webServer } from "@fairlead/test-servers";
import { describe, expect, it } from "vitest";
import { choicesOf, type ServerChoice } from "../../src/registry/launch.ts";
import type { RegistryContext } from "../../src/registry/mcp-registry.ts";
import { type PackageSites, provePackage } from "../../src/registry/proof.ts";
import { isRefused, readServerJson } from "../../src/registry/server-json.ts";

const name = "io.github.acme/weather";

function choice(program: object): ServerChoice {
  const packages = [{ version: "1.2.0", transport: { type: "stdio" }, ...program }];
  const server = readServerJson({ name, version: "1.2.0", packages });
  if (isRefused(server)) throw new Error(server.why);
  return choicesOf(server)[0] as ServerChoice;
}

function placeIn(home: string): RegistryContext {
  const environment = {
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
    home,
    cwd: home,
    platform: process.platform,
  };
  return { environment, state: home, signal: new AbortController().signal };
}

const sitesAt = (origin: string): PackageSites => ({ pypi: origin, nuget: origin, images: () => origin });

describe("npm, asked by the real npm", () => {
  const npm = choice({ registryType: "npm", identifier: "@acme/weather" });
  const packageWith = (more: object) => ({
    manifest: { name: "@acme/weather", version: "1.2.0", ...more },
    files: {},
  });

  it.each([
    ["proven", { mcpName: name }],
    ["unproven", {}],
    ["mismatch", { mcpName: "io.github.evil/weather" }],
  ])("a package is %s by its mcpName, and no package is fetched", async (kind, more) => {
    await using folder = await temporaryFolder();
    await using registry = await npmRegistry([packageWith(more)]);
    await folder.write(".npmrc", `registry=${registry.origin}\n`);

    const proof = await provePackage(name, npm, placeIn(folder.path));

    expect(proof.kind).toBe(kind);
    expect(registry.fetched()).toBe(0);
  });

  it("a version that does not exist is named; without a network, the package is unproven", async () => {
    await using folder = await temporaryFolder();
    await using registry = await npmRegistry([packageWith({})]);
    const other = choice({ registryType: "npm", identifier: "@acme/weather", version: "9.9.9" });

    await folder.write(".npmrc", `registry=${registry.origin}\n`);

    const missing = await provePackage(name, other, placeIn(folder.path)).catch((error: HostError) => error);
    await folder.write(".npmrc", "registry=http://127.0.0.1:9\n");
    const offline = await provePackage(name, npm, placeIn(folder.path));

    expect(missing).toBeInstanceOf(HostError);
    expect(missing).toMatchObject({ code: "not_found" });
    expect(offline).toMatchObject({ kind: "unproven", why: expect.stringContaining("cannot be checked now") });
  });
});

const readme =
  (text: string): WebReply =>
  ({ path }, response) => {
    if (path.startsWith("/pypi/")) return void response.end(JSON.stringify({ info: { description: text } }));
    if (path.endsWith("/readme")) return void response.end(text);
    response.writeHead(404).end();
  };

describe.each([
  ["PyPI", choice({ registryType: "pypi", identifier: "acme-weather" })],
  ["NuGet", choice({ registryType: "nuget", identifier: "Acme.Weather" })],
])("%s", (_, program) => {
  it.each([
    ["proven", `# Weather\n<!-- mcp-name: ${name} -->`],
    ["proven", `mcp-name: io.github.acme/other\nmcp-name: ${name}.`],
    ["unproven", "# Weather"],
    ["mismatch", `<!-- mcp-name: ${name}-evil -->`],
  ])("a package is %s by its README", async (kind, text) => {
    await using folder = await temporaryFolder();
    await using site = await webServer(readme(text));
    const proof = await provePackage(name, program, placeIn(folder.path), sitesAt(site.origin));
    expect(proof.kind).toBe(kind);
  });

  it("a version that does not exist is named; an outage leaves the package unproven", async () => {
    await using folder = await temporaryFolder();
    await using empty = await webServer((_request, response) => void response.writeHead(404).end());
    await using broken = await webServer((_request, response) => void response.writeHead(503).end());

    const missing = provePackage(name, program, placeIn(folder.path), sitesAt(empty.origin));
    await expect(missing).rejects.toMatchObject({ code: "not_found" });
    const proof = await provePackage(name, program, placeIn(folder.path), sitesAt(broken.origin));
    expect(proof.kind).toBe("unproven");
  });
});

describe("an image", () => {
  const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
  const images =
    (label: string | undefined): WebReply =>
    ({ path, headers }, response) => {
      const origin = `http://${headers.host}`;
      if (path.startsWith("/token")) return void response.end(JSON.stringify({ token: "t" }));
      if (headers.authorization !== "Bearer t") {
        const challenge = `Bearer realm="${origin}/token",service="images",scope="repository:acme/weather:pull"`;
        return void response.writeHead(401, { "www-authenticate": challenge }).end();
      }
      const answers: Record<string, object> = {
        "/v2/acme/weather/manifests/1.2.0": { manifests: [{ digest: digest("a"), platform: { os: "linux" } }] },
        [`/v2/acme/weather/manifests/${digest("a")}`]: { config: { digest: digest("b") } },
        [`/v2/acme/weather/blobs/${digest("b")}`]: {
          config: { Labels: label === undefined ? {} : { "io.modelcontextprotocol.server.name": label } },
        },
      };
      const answer = answers[path];
      response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? {}));
    };

  it.each([
    ["proven", name],
    ["unproven", undefined],
    ["mismatch", "io.github.evil/weather"],
  ])("is %s by its label", async (kind, label) => {
    await using folder = await temporaryFolder();
    await using site = await webServer(images(label));
    const image = choice({ registryType: "oci", identifier: "images.example/acme/weather:1.2.0" });
    const proof = await provePackage(name, image, placeIn(folder.path), sitesAt(site.origin));
    expect(proof.kind).toBe(kind);
  });
});

it("a remote server has no package to prove", async () => {
  const remotes = [{ type: "sse", url: "https://weather.example/sse" }];
  const server = readServerJson({ name, version: "1.2.0", remotes });
  const [remote] = isRefused(server) ? [] : choicesOf(server);
  expect(await provePackage(name, remote as ServerChoice, placeIn("/"))).toEqual({ kind: "none" });
});
