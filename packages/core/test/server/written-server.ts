/** Hosts of several runs with one server, `s`, whose program the test writes and writes again. */

import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@fairlead/test-servers";
import { createOpenedHost, type OpenedHost } from "../../src/host.ts";
import type { HostOptions } from "../../src/index.ts";
import { CatalogCache } from "../../src/server/catalog-cache.ts";
import type { CachedCatalog } from "../../src/server/catalog-store.ts";
import type { ServerDefinition } from "../../src/settings/define/definition.ts";

const serveFile = fileURLToPath(new URL("../../../test-servers/src/programs/serve.mjs", import.meta.url));

export interface WrittenServer extends AsyncDisposable {
  /** Writes the program. It has `serve`, and `say`, which falls silent once it is `mute`. At first there is none. */
  readonly write: (code: string) => Promise<unknown>;
  /** Gives the program another argument: another definition. */
  readonly redefine: (word: string) => Promise<unknown>;
  readonly run: (options?: HostOptions) => Promise<OpenedHost>;
  /** What lies on disk. */
  readonly cached: (host: OpenedHost) => Promise<CachedCatalog | undefined>;
  readonly cache: (host: OpenedHost, catalog: CachedCatalog) => Promise<void>;
}

export async function writtenServer(): Promise<WrittenServer> {
  const folder = await temporaryFolder();
  const file = `${folder.path}/program.mjs`;
  const home = `${folder.path}/home`;
  const redefine: WrittenServer["redefine"] = (...words) =>
    folder.write("home/.gemini/settings.json", {
      mcpServers: { s: { command: process.execPath, args: [file, ...words] } },
    });
  await redefine("first");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: `${folder.path}/none` };
  const environment = { env, home, cwd: home, platform: process.platform };
  const store = new CatalogCache({ state: `${home}/.fairlead`, secret: async () => undefined });
  return {
    write: (code) =>
      folder.write(
        "program.mjs",
        `import { serve } from ${JSON.stringify(serveFile)};
let mute = false;
const say = (text) => mute || process.stdout.write(text);
${code}`,
      ),
    redefine,
    run: (options = {}) => createOpenedHost({ environment, workspace: false, recover: false, ...options }),
    cached: (host) => store.read(definitionOf(host)),
    cache: (host, catalog) => store.save(definitionOf(host), catalog),
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

function definitionOf(host: OpenedHost): ServerDefinition {
  const { definition } = host.gateway.servers.get("s");
  if (definition === undefined) throw new Error("s may not start");
  return definition;
}

/** Says hello under this name, with `more` in its answer. */
export function named(name: string, more: object = {}): string {
  const answer = {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name, version: "1" },
    ...more,
  };
  return `initialize: () => (${JSON.stringify(answer)})`;
}

/** It connects, and never lists its tools. */
export const listsNothing = '"tools/list": () => ({ mute: (mute = true) })';
