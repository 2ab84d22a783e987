import { rm } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { ideCompanion, stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { workspaceOf } from "../../src/gateway/open-gateway.ts";
import { main } from "../../src/shell/main.ts";
import { type Machine, machine, projectFile } from "../support/machine.ts";
import { stillClock } from "../support/still-clock.ts";

type Variables = Readonly<Record<string, string | undefined>>;

const port = "GEMINI_CLI_IDE_SERVER_PORT";

/** The variables that the background host keeps of a client. `own`: those of the terminal in which the host was started. */
async function keptOf(here: Machine, env: Variables, own: Variables = {}): Promise<Variables> {
  const client = {
    name: "test",
    cwd: here.project,
    env: { ...here.env, ...env },
    workspace: true,
    trustWorkspace: false,
  };
  const io = { env: { ...here.env, ...own }, home: here.home, platform: process.platform, clock: stillClock };
  return (await workspaceOf(client, io)).env;
}

test("clients in the terminal of an IDE that decides about the folder have their own hosts; all others share them", async () => {
  await using here = await machine();
  await using companion = await ideCompanion({ isTrusted: false });
  const variables = companion.variables(here.project);
  expect(await keptOf(here, variables)).toMatchObject({
    [port]: String(companion.port),
    GEMINI_CLI_IDE_AUTH_TOKEN: companion.token,
  });
  const shared = await keptOf(here, {});
  expect(shared[port]).toBeUndefined();
  expect(await keptOf(here, companion.variables("/elsewhere"))).toEqual(shared);
  companion.say(undefined);
  expect(await keptOf(here, variables)).toEqual(shared);
  const count = companion.seen.length;
  expect(await keptOf(here, {}, variables)).toEqual(shared);
  expect(companion.seen).toHaveLength(count);
});

interface Line {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly tools: readonly { readonly name: string }[] };
}

/** Runs `fairlead serve --alone` in this process. */
function serveAlone(here: Machine, env: Variables) {
  const stdin = new PassThrough();
  const waiting = new Set<(line: Line) => boolean>();
  let rest = "";
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const lines = `${rest}${chunk.toString()}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) for (const take of waiting) if (take(JSON.parse(line) as Line)) waiting.delete(take);
      done();
    },
  });
  const quit = new AbortController();
  const ended = main(["serve", "--alone"], {
    stdin,
    stdout,
    stderr: new PassThrough().resume(),
    env: { ...here.env, ...env },
    cwd: here.project,
    home: here.home,
    platform: process.platform,
    signal: quit.signal,
    clock: stillClock,
  });
  const next = (isWanted: (line: Line) => boolean): Promise<Line> =>
    new Promise((resolve) => {
      waiting.add((line) => {
        if (!isWanted(line)) return false;
        resolve(line);
        return true;
      });
    });
  let id = 0;
  const send = (message: object): void => void stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    send,
    next,
    async ask(method: string, params: object = {}): Promise<Line> {
      id += 1;
      const own = id;
      const answer = next((line) => line.id === own && line.method === undefined);
      send({ id: own, method, params });
      return answer;
    },
    async [Symbol.asyncDispose]() {
      quit.abort();
      await ended;
    },
  };
}

test("a client of the gateway sees the folder's tools as long as the IDE trusts the folder", async () => {
  await using here = await machine({ [projectFile]: { mcpServers: { theirs: stdioServer("well-behaved") } } });
  expect(await here.run("trust", "add", "--yes")).toMatchObject({ code: 0 });
  expect(await here.run("mcp", "list", "--strict")).toMatchObject({ code: 0 });
  await rm(join(here.home, ".gemini/trustedFolders.json"));
  await using companion = await ideCompanion();
  await using client = serveAlone(here, companion.variables(here.project));
  const clientInfo = { name: "test", version: "1" };
  await client.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  client.send({ method: "notifications/initialized" });
  const hasEcho = async (): Promise<boolean | undefined> =>
    (await client.ask("tools/list")).result?.tools.some(({ name }) => name === "echo");
  expect(await hasEcho()).toBe(true);
  for (const isTrusted of [false, true]) {
    companion.say(isTrusted);
    // One change of trust may be announced more than once.
    for (;;) {
      const changed = client.next(({ method }) => method === "notifications/tools/list_changed");
      if ((await hasEcho()) === isTrusted) break;
      await changed;
    }
  }
});
