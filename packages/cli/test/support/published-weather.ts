/** A machine whose registry publishes a weather server, as an npm package that the real npm installs from loopback. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type McpRegistryServer,
  mcpRegistry,
  type NpmRegistry,
  npmRegistry,
  type PublishedItem,
  published,
} from "@fairlead/test-servers";
import { type Machine, machine, userFile } from "./machine.ts";

export const weatherName = "io.github.acme/weather";

/** A server without libraries. Its tool lists a folder, and says whether the key has arrived. */
const program = `#!/usr/bin/env node
const { readdirSync } = require("node:fs");
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "weather", version: "VERSION" } }),
  "tools/list": () => ({ tools: TOOLS }),
  "tools/call": () => ({ content: [{ type: "text", text: (process.env.WEATHER_KEY || "no key") + " " + readdirSync(process.argv[2]).join() }] }),
  ping: () => ({}),
};
let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop();
  for (const { id, method, params } of lines.map((line) => JSON.parse(line)))
    if (id !== undefined)
      send(answers[method] ? { id, result: answers[method](params) } : { id, error: { code: -32601, message: method } });
});
`;

function forecast(description: string): object {
  return { name: "forecast", description, inputSchema: { type: "object" } };
}

/** `server.json` of one version. It needs a folder and a key. */
export function weatherItem(version: string, state: object = {}, more: object = {}): PublishedItem {
  const npm = {
    registryType: "npm",
    identifier: "@acme/weather",
    version,
    transport: { type: "stdio" },
    packageArguments: [
      { type: "positional", valueHint: "folder", description: "Your notes", format: "filepath", isRequired: true },
    ],
    environmentVariables: [
      { name: "WEATHER_KEY", description: "Your key", isRequired: true, isSecret: true },
      { name: "REGION", description: "Where you are" },
    ],
    ...more,
  };
  return published(
    { name: weatherName, title: "Weather", version, description: "Forecasts.", packages: [npm] },
    { ...state },
  );
}

/** The registry of servers, and the one of npm with their package. */
export interface WeatherRegistries extends AsyncDisposable {
  readonly registry: McpRegistryServer;
  readonly npm: NpmRegistry;
  /** The file that leads npm to its registry. */
  readonly npmrc: string;
}

interface PublishedOptions {
  readonly items?: readonly PublishedItem[];
  /** What the package says; null: nothing. */
  readonly mcpName?: string | null;
  /** The tools of each version, if they are not one `forecast`. */
  readonly tools?: Readonly<Record<string, readonly object[]>>;
  /** JavaScript that version 1.3.0 runs when it starts. */
  readonly starts?: string;
}

export async function weatherRegistries({
  items = [weatherItem("1.2.0")],
  mcpName = weatherName,
  tools = {},
  starts = "",
}: PublishedOptions = {}): Promise<WeatherRegistries> {
  const versions = ["1.2.0", "1.3.0"].map((version) => ({
    manifest: { name: "@acme/weather", version, bin: { weather: "server.js" }, ...(mcpName !== null && { mcpName }) },
    files: {
      "server.js": program
        .replace("let rest", () => `${version === "1.3.0" ? starts : ""}\nlet rest`)
        .replace("TOOLS", () => JSON.stringify(tools[version] ?? [forecast(version)]))
        .replaceAll("VERSION", version),
    },
  }));
  const npm = await npmRegistry(versions);
  const registry = await mcpRegistry(items);
  return {
    registry,
    npm,
    npmrc: `registry=${npm.origin}\nupdate-notifier=false\n`,
    async [Symbol.asyncDispose]() {
      await registry[Symbol.asyncDispose]();
      await npm[Symbol.asyncDispose]();
    },
  };
}

export interface PublishedWeather extends Machine {
  readonly registry: McpRegistryServer;
  readonly npm: NpmRegistry;
  readonly notes: string;
}

export async function publishedWeather(options: PublishedOptions = {}): Promise<PublishedWeather> {
  const { registry, npm, npmrc, [Symbol.asyncDispose]: close } = await weatherRegistries(options);
  const here = await machine({ [userFile]: { fairlead: { registries: [registry.origin] } } });
  const notes = join(here.home, "notes");
  await mkdir(notes);
  const env = {
    ...here.env,
    FAIRLEAD_SECRET_STORE: "file",
  };
  await here.write("home/.npmrc", npmrc);
  return {
    ...here,
    env,
    runWith: (options, ...argv) => here.runWith({ ...options, env: { ...env, ...options.env } }, ...argv),
    run: (...argv) => here.runWith({ env }, ...argv),
    registry,
    npm,
    notes,
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await close();
    },
  };
}
