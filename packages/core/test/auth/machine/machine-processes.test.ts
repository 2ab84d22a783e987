import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { scaled, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildProgram } from "../../support/build-program.ts";
import { machineScene } from "./machine-scene.ts";

const processes = scaled(20, 4);
const rounds = 2 + scaled(3);
const client = { clientId: "machine", clientSecret: "quite secret" };

let programs: TemporaryFolder;
let program: string;

beforeAll(async () => {
  programs = await temporaryFolder();
  program = await buildProgram("machine-token-user", programs.path, join(import.meta.dirname, "../programs"));
});
afterAll(() => programs[Symbol.asyncDispose]());

interface User {
  readonly child: ChildProcess;
  readonly hear: () => Promise<string>;
  readonly tell: (refused: string) => void;
}

function startUser(...args: readonly string[]): User {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    hear: async () => String((await lines.next()).value),
    tell: (token) => void child.stdin.write(`${token}\n`),
  };
}

test(`${processes} processes, ${rounds} rounds of a machine's token: one token request a round`, async () => {
  await using scene = await machineScene({ clients: [client] });
  const { authorization, guarded, folder } = scene;
  const metadata = `${guarded.origin}/.well-known/oauth-protected-resource/mcp`;
  const settings = JSON.stringify({ kind: "client_credentials", ...client });
  const users = Array.from({ length: processes }, () => startUser(folder.path, guarded.url, metadata, settings));
  try {
    await Promise.all(users.map((user) => user.hear()));
    // In the first round no process has a token yet.
    let refused = "";
    for (let round = 1; round <= rounds; round += 1) {
      authorization.expireTokens();
      for (const user of users) user.tell(refused);
      const tokens = await Promise.all(users.map((user) => user.hear()));
      const [token = ""] = tokens;
      expect(tokens).toEqual(users.map(() => token));
      expect(authorization.findLiveToken(token)).toBeDefined();
      expect(authorization.callsTo("token")).toHaveLength(round);
      refused = token;
    }
  } finally {
    await Promise.all(
      users.map(async ({ child }) => {
        child.kill("SIGKILL");
        await once(child, "exit");
      }),
    );
  }
});
