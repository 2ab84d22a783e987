/** A machine with servers of its own, and the stand-in of a model's API that the command on it asks. */

import { join } from "node:path";
import { type GeminiApi, type GeminiSettings, geminiApi, stdioServer } from "@fairlead/test-servers";
import type { Shelf } from "./library.ts";
import { type Ending, type Machine, machine, type RunOptions, userFile } from "./machine.ts";

export interface Scene extends Machine {
  readonly api: GeminiApi;
  /** `fairlead -p`, with the model set. */
  ask(prompt: string, ...options: readonly string[]): Promise<Ending>;
  askWith(given: RunOptions, prompt: string, ...options: readonly string[]): Promise<Ending>;
  /** What a server wrote down: its starts and its calls. */
  diary(server: string): Promise<readonly string[]>;
}

interface SceneOptions {
  readonly servers?: Readonly<Record<string, object>>;
  /** Names of servers with a tool `echo` that write a diary. */
  readonly counted?: readonly string[];
  /** Resources and prompts of servers that have nothing else. */
  readonly shelves?: Readonly<Record<string, Shelf>>;
  readonly api?: Partial<GeminiSettings>;
}

export async function scene(options: SceneOptions = {}): Promise<Scene> {
  const { servers = {}, counted = [], shelves = {}, api: settings = {} } = options;
  const here = await machine();
  const api = await geminiApi(settings);
  const env = { GEMINI_API_KEY: api.settings.apiKey, GOOGLE_GEMINI_BASE_URL: api.baseUrl };
  const diaries = counted.map((name) => [name, stdioServer("counted", join(here.path, `${name}.diary`))] as const);
  const filled = Object.entries(shelves).map(async ([name, shelf]) => {
    const file = await here.write(`${name}.json`, shelf);
    return [name, stdioServer("library", file, join(here.path, `${name}.diary`))] as const;
  });
  const mcpServers = Object.fromEntries([...diaries, ...(await Promise.all(filled)), ...Object.entries(servers)]);
  if (Object.keys(mcpServers).length > 0) await here.write(userFile, { mcpServers });
  const askWith: Scene["askWith"] = (given, prompt, ...words) =>
    here.runWith({ ...given, env: { ...env, ...given.env } }, "-p", prompt, ...words);
  return {
    ...here,
    env: { ...here.env, ...env },
    api,
    askWith,
    ask: (prompt, ...words) => askWith({}, prompt, ...words),
    diary: async (server) => (await here.read(`${server}.diary`)).trimEnd().split("\n"),
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await here[Symbol.asyncDispose]();
    },
  };
}

/** What a program reads line by line. */
export function linesOf({ stdout }: Ending): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
