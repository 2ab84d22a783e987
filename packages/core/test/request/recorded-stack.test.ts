/** The walks through core, as V8 records them: compared with ARCHITECTURE.md, and they return to no file. */

import { join } from "node:path";
import {
  drawnWalk,
  filesTwice,
  namedIn,
  type RecordedFunction,
  type RecordedStack,
  recordStacks,
  stdioServer,
  type TemporaryFolder,
  temporaryFolder,
  walkOf,
} from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createHost, type Host } from "../../src/index.ts";
import { both } from "../auth/both-servers.ts";
import { person } from "../auth/person.ts";
import { hostFor } from "../auth/signed-in-host.ts";
import { desk, plays } from "../support/turn-desk.ts";

const stdio = "wire/src/stdio/";

/** The first stack that passes this function of this file. */
function passing(stacks: readonly RecordedStack[], name: string, file: string): RecordedStack {
  const found = stacks.find(({ functions }) => functions.some((one) => one.name === name && one.file.startsWith(file)));
  if (found === undefined) throw new Error(`no recorded stack passes ${name} of ${file}`);
  return found;
}

function filesOf(walk: readonly RecordedFunction[]): number {
  return new Set(walk.map(({ file }) => file)).size;
}

async function expectDrawn(walk: readonly RecordedFunction[], title: string): Promise<void> {
  expect(namedIn(walk)).toEqual(await drawnWalk(title));
  expect(filesTwice(walk)).toEqual([]);
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

describe("a warm call", () => {
  test("reaches the transport through at most 12 functions in 6 files", async () => {
    await using folder = await temporaryFolder();
    await using host = await openWarm(folder);
    const stacks = await recordStacks(() => host.call("s", "pay", {}));
    const walk = walkOf(passing(stacks, "send", stdio), "core/src/request/calls.ts", stdio);
    await expectDrawn(walk, "host.call()");
    expect(namedIn(walk).length).toBeLessThanOrEqual(12);
    expect(filesOf(walk)).toBeLessThanOrEqual(6);
  });

  test("is recorded with a function that is added, also if it waits before it calls the next one", async () => {
    await using folder = await temporaryFolder();
    await using host = await openWarm(folder);
    async function detour(): Promise<unknown> {
      await Promise.resolve();
      return host.call("s", "pay", {});
    }
    const stacks = await recordStacks(() => detour());
    const here = "core/test/request/recorded-stack.test.ts";
    const walk = walkOf(passing(stacks, "send", stdio), here, stdio);
    expect(namedIn(walk)).toEqual([`detour ${here}`, ...(await drawnWalk("host.call()"))]);
  });
});

test("a model's call takes the walk that is drawn, and returns to no file", async () => {
  await using at = await desk({
    servers: (path) => ({ s: { ...stdioServer("counted", path("notes")), trust: true } }),
  });
  await at.host.start();
  const model = plays([{ functionCall: { name: "echo", args: { text: "a" } } }], [{ text: "ok" }]);
  const conversation = at.host.conversation({ model });
  const stacks = await recordStacks(async () => {
    for await (const event of conversation.send("go")) expect(event.type).not.toBe("error");
  });
  const walk = walkOf(passing(stacks, "send", stdio), "core/src/turn/conversation.ts", stdio);
  await expectDrawn(walk, "conversation.send()");
});

describe("a 401", () => {
  const client = "wire/src/http/http-client.ts";
  const net = "core/src/net/";

  test("leads to a sign-in and to a new token on the walks that are drawn, and they return to no file", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: person().ui });
    const signingIn = await recordStacks(() => host.start({ servers: ["docs"] }));
    const exchange = passing(signingIn, "exchangeCode", "core/src/auth/oauth/");
    await expectDrawn(walkOf(exchange, client, net), "HTTP 401, the user signs in");
    servers.authorization.expireTokens();
    const renewing = await recordStacks(() => host.call("docs", "echo", { text: "hi" }));
    const refresh = passing(renewing, "refreshTokens", "core/src/auth/oauth/");
    await expectDrawn(walkOf(refresh, client, net), "HTTP 401, the token is renewed");
  });
});

test("a file to which a walk returns is found", () => {
  const walk = ["a", "a", "b", "c", "b"].map((file) => ({ name: "f", file }));
  expect(filesTwice(walk)).toEqual(["b"]);
});
