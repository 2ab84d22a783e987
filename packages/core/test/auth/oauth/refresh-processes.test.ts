import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { authorizationServer, scaled, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTokenStorage, signInFolder } from "../../../src/auth/store/token-storage.ts";
import { buildProgram } from "../../support/build-program.ts";
import { signInByHand } from "../sign-in-by-hand.ts";

const url = "http://127.0.0.1:9/mcp";
const processes = scaled(20, 4);
const rounds = 2 + scaled(3);

let programs: TemporaryFolder;
let program: string;

beforeAll(async () => {
  programs = await temporaryFolder();
  program = await buildProgram("token-user", programs.path, join(import.meta.dirname, "../programs"));
});
afterAll(() => programs[Symbol.asyncDispose]());

interface User extends AsyncDisposable {
  readonly child: ChildProcess;
  /** The next line that it says. */
  readonly hear: () => Promise<string>;
  readonly tell: (token: string) => void;
}

function startUser(state: string, ...how: readonly string[]): User {
  const child = spawn(process.execPath, [program, state, url, ...how], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    hear: async () => String((await lines.next()).value),
    tell: (token) => void child.stdin.write(`${token}\n`),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

test(`${processes} processes, ${rounds} rounds, a refresh token that may be used once: one refresh a round, nothing revoked`, async () => {
  await using folder = await temporaryFolder();
  await using server = await authorizationServer({ refreshTokens: "rotating" });
  const storage = openTokenStorage({ state: folder.path, env: {}, platform: "linux" });
  await storage.saveCredentials(await signInByHand(server, url));
  const users = Array.from({ length: processes }, () => startUser(folder.path));
  try {
    let [token = ""] = await Promise.all(users.map((user) => user.hear()));
    for (let round = 1; round <= rounds; round += 1) {
      server.expireTokens();
      for (const user of users) user.tell(token);
      const tokens = await Promise.all(users.map((user) => user.hear()));
      const [renewed = ""] = tokens;
      expect(tokens).toEqual(users.map(() => renewed));
      expect(server.findLiveToken(renewed)).toBeDefined();
      expect(server.callsTo("token", "refresh_token")).toHaveLength(round);
      token = renewed;
    }
  } finally {
    await Promise.all(users.map((user) => user[Symbol.asyncDispose]()));
  }
});

test("a process that dies in the middle of a refresh does not block the next refresh", async () => {
  await using folder = await temporaryFolder();
  await using server = await authorizationServer({ refreshTokens: "rotating" });
  const storage = openTokenStorage({ state: folder.path, env: {}, platform: "linux" });
  await storage.saveCredentials(await signInByHand(server, url));
  await using dying = startUser(folder.path);
  await using living = startUser(folder.path);
  const token = await dying.hear();
  expect(await living.hear()).toBe(token);
  const asked = new Promise<void>((resolve) => server.interrupt("token", () => resolve()));
  dying.tell(token);
  await asked;
  dying.child.kill("SIGKILL");
  await once(dying.child, "exit");

  const locks = (await readdir(signInFolder(folder.path))).filter((name) => name.endsWith(".lock"));
  expect(locks).toHaveLength(1);
  // As if it had happened a while ago.
  await utimes(join(signInFolder(folder.path), locks[0] ?? ""), 0, 0);
  living.tell(token);
  const renewed = await living.hear();
  expect(renewed).not.toBe(token);
  expect(server.findLiveToken(renewed)).toBeDefined();
});

test("a process that is killed between the token response and its storage does not lose the sign-in", async () => {
  await using folder = await temporaryFolder();
  await using server = await authorizationServer({ refreshTokens: "rotating" });
  const storage = openTokenStorage({ state: folder.path, env: {}, platform: "linux" });
  await storage.saveCredentials(await signInByHand(server, url));
  await using dying = startUser(folder.path, "dies");
  const token = await dying.hear();
  dying.tell(token);
  await once(dying.child, "exit");
  expect(dying.child.signalCode).toBe("SIGKILL");
  const locks = (await readdir(signInFolder(folder.path))).filter((name) => name.endsWith(".lock"));
  // As if it had happened a while ago.
  for (const lock of locks) await utimes(join(signInFolder(folder.path), lock), 0, 0);
  await using living = startUser(folder.path);
  expect(await living.hear()).toBe(token);
  living.tell(token);
  const renewed = await living.hear();
  expect(server.findLiveToken(renewed)).toBeDefined();
  expect(server.callsTo("token", "refresh_token")).toHaveLength(1);
});
