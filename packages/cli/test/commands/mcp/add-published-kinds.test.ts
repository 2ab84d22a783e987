/** Servers of a registry that are bundles or images: from the name to a server that runs. */

import { Buffer } from "node:buffer";
import { chmod, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { readBundle } from "@fairlead/registry/bundles/bundle";
import { writeZip } from "@fairlead/registry/bundles/write-zip";
import { mcpRegistry, published, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type Machine, machine, userFile } from "../../support/machine.ts";

/** A server whose tool says with which arguments and with which key it was started. */
const server = `
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    "tools/list": { tools: [{ name: "look", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: JSON.stringify([process.argv.slice(2), process.env.KEY]) }] },
  };
  const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: "no" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
});
`;

function bundle(): Buffer {
  const manifest = {
    manifest_version: "0.3",
    name: "look",
    version: "1.0.0",
    description: "Looks around.",
    author: { name: "Acme" },
    server: {
      type: "node",
      entry_point: "index.js",
      mcp_config: { command: "node", args: ["${__dirname}/index.js", "from-the-bundle"] },
    },
  };
  const files = { "manifest.json": JSON.stringify(manifest), "index.js": server };
  return writeZip(
    Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text), isExecutable: false })),
  );
}

async function servers(here: Machine): Promise<unknown> {
  const { mcpServers = {}, fairlead } = JSON.parse(await here.read(userFile)) as {
    mcpServers?: object;
    fairlead: { servers?: object };
  };
  return [mcpServers, fairlead.servers ?? {}];
}

test("a bundle of a registry is downloaded, must have the registry's digest, and runs", async () => {
  const bytes = bundle();
  await using site = await webServer((_request, response) => response.end(bytes));
  const name = "com.example/look";
  const item = (fileSha256: string) => [
    published({
      name,
      version: "1.0.0",
      packages: [
        { registryType: "mcpb", identifier: `${site.origin}/look.mcpb`, fileSha256, transport: { type: "stdio" } },
      ],
    }),
  ];
  await using registry = await mcpRegistry(item("00".repeat(32)));
  await using here = await machine({ [userFile]: { fairlead: { registries: [registry.origin] } } });
  const add = () => here.run("mcp", "add", name, "-s", "user", "--sandbox", "off", "--yes");

  const wrong = await add();
  const unchanged = await servers(here);
  const { sha256 } = readBundle(bytes);
  registry.items = item(sha256);
  const added = await add();
  const called = await here.run("call", "look.look");

  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("its SHA-256 is")]);
  expect(unchanged).toEqual([{}, {}]);
  expect([added.code, added.stderr]).toEqual([0, expect.stringContaining("undo: fairlead mcp remove -s user look")]);
  expect(await servers(here)).toMatchObject([
    { look: { command: expect.stringMatching(/node$/) } },
    {
      look: {
        origin: {
          registry: registry.origin,
          name,
          version: "1.0.0",
          kind: "mcpb",
          sha256,
          proof: "SHA-256 of the bundle",
        },
      },
    },
  ]);
  expect([called.code, called.stdout]).toEqual([0, expect.stringContaining('[["from-the-bundle"],null]')]);
});

test("an image of a registry is run by docker, with its exact tag, and its key comes from the secret store", async () => {
  const image = "127.0.0.1:9/acme/weather:1.2.0";
  await using registry = await mcpRegistry([
    published({
      name: "com.example/weather",
      version: "1.2.0",
      packages: [
        {
          registryType: "oci",
          identifier: image,
          transport: { type: "stdio" },
          packageArguments: [{ type: "positional", value: "serve" }],
          environmentVariables: [{ name: "KEY", isRequired: true, isSecret: true }],
        },
      ],
    }),
  ]);
  await using here = await machine({ [userFile]: { fairlead: { registries: [registry.origin] } } });
  await here.write("bin/server.js", server);
  await here.write("bin/docker", `#!/bin/sh\nexec "${process.execPath}" "$(dirname "$0")/server.js" "$@"\n`);
  const bin = join(here.path, "bin");
  await chmod(join(bin, "docker"), 0o755);
  const env = { PATH: `${bin}${delimiter}/usr/bin:/bin`, FAIRLEAD_SECRET_STORE: "file" };
  const run = (...words: readonly string[]) => here.runWith({ env }, ...words);
  const add = (...words: readonly string[]) =>
    run("mcp", "add", "com.example/weather", "-s", "user", "--yes", "--input", "KEY=s3cret", ...words);

  const unproven = await add();
  const unchanged = await servers(here);
  const added = await add("--unproven");
  const called = await run("call", "weather.look");

  expect([unproven.code, unproven.stderr]).toEqual([
    6,
    expect.stringContaining("is unproven: it cannot be checked now"),
  ]);
  expect(unchanged).toEqual([{}, {}]);
  expect([added.code, added.stderr]).toEqual([0, expect.stringContaining(`docker run -i --rm -e KEY ${image} serve`)]);
  expect(added.stderr).toContain("container");
  expect(await readFile(join(here.path, userFile), "utf8")).not.toContain("s3cret");
  expect(await servers(here)).toMatchObject([
    { weather: { command: "docker", args: ["run", "-i", "--rm", "-e", "KEY", image, "serve"] } },
    { weather: { origin: { kind: "oci", package: image, proof: "none" } } },
  ]);
  expect([called.code, called.stdout]).toEqual([
    0,
    expect.stringContaining(`[["run","-i","--rm","-e","KEY","${image}","serve"],"s3cret"]`),
  ]);
});
