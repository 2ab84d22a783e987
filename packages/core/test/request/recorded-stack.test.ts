import { readFile } from "node:fs/promises";
import { Session as InspectorSession, console as inspectorConsole, type Runtime } from "node:inspector";
import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createHost, type Host } from "../../src/index.ts";

const architecture = new URL("../../../../ARCHITECTURE.md", import.meta.url);
const transport = "wire/src/stdio/";

/** One for the file: V8 records no callers of asynchronous functions for a second inspector in the same process. */
const inspector = new InspectorSession();

beforeAll(() => {
  inspector.connect();
  inspector.post("Runtime.enable");
  inspector.post("Debugger.enable");
  inspector.post("Debugger.setAsyncCallStackDepth", { maxDepth: 100 });
});
afterAll(() => inspector.disconnect());
afterEach(() => vi.restoreAllMocks());

/**
 * Returns the stack of the first message that the transport writes while `work` runs, the caller first. V8's inspector
 * records the callers of asynchronous functions too.
 */
async function recordStack(work: () => Promise<unknown>): Promise<readonly string[]> {
  const stacks: Runtime.StackTrace[] = [];
  inspector.on("Runtime.consoleAPICalled", ({ params }) => params.stackTrace && stacks.push(params.stackTrace));
  const { stringify } = JSON;
  vi.spyOn(JSON, "stringify").mockImplementation((...given: Parameters<typeof stringify>) => {
    inspectorConsole.trace();
    return stringify(...given);
  });
  await work();
  vi.restoreAllMocks();
  inspector.removeAllListeners();
  const sent = stacks.map(namedFunctions).find((functions) => functions.some((each) => each.includes(transport))) ?? [];
  const begin = sent.findIndex((each) => each.startsWith("recordStack ")) + 1;
  return sent.slice(begin).filter((each) => !each.includes(transport));
}

/** Returns lines such as `runRequest core/src/request/run.ts`. A function that waited several times counts once. */
function namedFunctions(stack: Runtime.StackTrace): readonly string[] {
  const found = new Set<string>();
  for (let part: Runtime.StackTrace | undefined = stack; part !== undefined; part = part.parent)
    for (const { functionName, url } of part.callFrames) {
      const [, file] = /\/packages\/((?:core|wire)\/(?:src|test)\/.+)$/.exec(url) ?? [];
      if (file !== undefined && functionName !== "") found.add(`${functionName} ${file}`);
    }
  return [...found].toReversed();
}

/** Returns the functions that ARCHITECTURE.md draws between a call and its transport, as `namedFunctions` does. */
async function drawnFunctions(): Promise<readonly string[]> {
  const text = await readFile(architecture, "utf8");
  const [, drawing = ""] = /^ host\.call\(\)\n([\s\S]*?)^ transport/m.exec(text) ?? [];
  return drawing
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replace(/^[ └▸]+/, "").replace(/ +/, " "));
}

async function openWarm(folder: TemporaryFolder): Promise<Host> {
  const list = await folder.write("list.json", [{ name: "pay", inputSchema: { type: "object" } }]);
  const s = stdioServer("counted", join(folder.path, "notes"), list);
  await folder.write("home/.gemini/settings.json", { mcpServers: { s } });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  const host = await createHost({ environment, recover: false, trust: true });
  await host.start();
  await host.call("s", "pay", {});
  return host;
}

test("a warm call reaches the transport through at most 12 functions in 6 files, as ARCHITECTURE.md draws it", async () => {
  await using folder = await temporaryFolder();
  await using host = await openWarm(folder);
  const functions = await recordStack(() => host.call("s", "pay", {}));
  expect(functions).toEqual(await drawnFunctions());
  expect(functions[0]).toBe("call core/src/request/calls.ts");
  expect(functions.length).toBeLessThanOrEqual(12);
  expect(new Set(functions.map((each) => each.split(" ")[1])).size).toBeLessThanOrEqual(6);
});

test("the recording shows a function that is added to the path, also if it waits before it calls the next one", async () => {
  await using folder = await temporaryFolder();
  await using host = await openWarm(folder);
  async function detour(): Promise<unknown> {
    await Promise.resolve();
    return host.call("s", "pay", {});
  }
  const functions = await recordStack(() => detour());
  expect(functions).toEqual(["detour core/test/request/recorded-stack.test.ts", ...(await drawnFunctions())]);
});
