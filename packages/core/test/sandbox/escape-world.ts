/** What programs try to reach out of their sandbox: secrets, processes, sockets and files of a host, each with a mark. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer as createSocketServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { programServer, temporaryFolder, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost, type Host } from "../../src/index.ts";

/** A program that tries to get out. */
export interface Attempt {
  /** What it does, as a sentence without a subject. */
  readonly does: string;
  /** Returns a text with the secret mark, or one that begins with `escaped`, if it succeeds. */
  readonly code: string;
  /** A file of the host, below its home folder, that has the planted mark if it succeeds. */
  readonly plants?: string;
  /** Why nothing is said about the same program without a sandbox. */
  readonly uncertain?: string;
}

/** Rights of root that other users lack: then the program fails without a sandbox too. */
export const needsRoot = process.getuid?.() === 0 ? {} : { uncertain: "only root can do it without a sandbox" };

/** What an attempt is told. It is not told the secret. */
export interface Facts {
  readonly home: string;
  readonly out: string;
  readonly notes: string;
  /** A process of the host with the secret in its environment and in its memory. */
  readonly victim: number;
  /** Where the victim has the secret in its memory. */
  readonly secretAt: number;
  readonly webPort: number;
  readonly abstractName: string;
  readonly shared: string;
  readonly state: string;
  readonly mark: string;
}

export interface World extends AsyncDisposable {
  readonly home: string;
  readonly host: Host;
  readonly facts: Facts;
  attempt(attempt: Attempt, preamble: (facts: Facts) => string): Promise<{ escaped: boolean; text: string }>;
}

const evaluator = fileURLToPath(new URL("../../../test-servers/src/programs/calls/evaluator.py", import.meta.url));

/** A host with one server, which runs the code of attempts, in a sandbox that lists `~/notes` and `~/out`. */
export async function escapeWorld(language: "node" | "python", isBoxed: boolean): Promise<World> {
  const folder = await temporaryFolder();
  const secret = `secret-${randomBytes(8).toString("hex")}`;
  const mark = `planted-${randomBytes(8).toString("hex")}`;
  const home = join(folder.path, "home");
  const files = [
    ".ssh/id_ed25519 .aws/credentials .config/gcloud/credentials.db .netrc .env project/.env project/src/app.ts",
    ".fairlead/token .fairlead/sandboxes/other-12345678/home/.cache/kept",
  ];
  await folder.write("home/notes/sub/note", "a note");
  for (const name of files.join(" ").split(" ")) await folder.write(`home/${name}`, secret);
  const obeyed =
    ".bashrc .envrc .env .vscode/tasks.json .mcp.json .git/config .git/hooks/pre-commit .husky/pre-commit nested/repo/.git/config";
  for (const name of `${obeyed} node_modules/.bin/tool tools/tool .gemini/settings.json`.split(" "))
    await folder.write(`home/out/${name}`, name.endsWith(".json") ? {} : "old");
  await symlink("../.ssh", join(home, "notes/link"));
  const shared = await sharedMemoryFile(secret);
  const web = await webServer((_, response) => response.end(secret));
  const abstractName = `fairlead-${randomBytes(6).toString("hex")}`;
  const sockets = await Promise.all(
    ["agent.sock", ".fairlead/daemon.sock"].map((path) => answering(join(home, path), secret)),
  );
  const { victim, secretAt } = await startVictim(secret, abstractName);
  const webPort = Number(new URL(web.origin).port);
  await folder.write("home/.gemini/settings.json", {
    mcpServers: {
      s: language === "node" ? programServer("evaluator") : { command: pythonFile(), args: [evaluator] },
    },
    fairlead: {
      background: "off",
      servers: {
        s: { sandbox: isBoxed ? { read: ["~/notes"], write: ["~/out"], hosts: ["allowed.invalid"] } : "off" },
      },
    },
  });
  const searchPath = `${join(home, "out/tools")}:${process.env["PATH"]}`;
  const host = await createHost({
    environment: {
      env: { PATH: searchPath, SECRET_OF_HOST: secret, AWS_SECRET_ACCESS_KEY: secret },
      home,
      cwd: join(home, "out"),
      platform: process.platform,
    },
  });
  // It starts now, because the first test would otherwise leave a process behind.
  await host.call("s", "run", { code: language === "node" ? "" : "attempt = str" });
  const facts: Facts = {
    home,
    out: join(home, "out"),
    notes: join(home, "notes"),
    victim: victim.pid ?? 0,
    secretAt,
    webPort,
    abstractName,
    shared: shared.path,
    state: join(home, ".fairlead"),
    mark,
  };
  return {
    home,
    host,
    facts,
    async attempt({ code, plants }, preamble) {
      const { content } = await host.call("s", "run", { code: `${preamble(facts)}\n${code}` });
      const [first] = content as readonly { readonly text?: string }[];
      const text = first?.text ?? "";
      const planted = plants && (await readFile(join(home, plants), "utf8").catch(() => ""));
      return { escaped: text.startsWith("escaped") || text.includes(secret) || planted?.includes(mark) === true, text };
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      victim.kill("SIGKILL");
      if (victim.exitCode === null && victim.signalCode === null) await once(victim, "exit");
      for (const socket of sockets) await new Promise((done) => socket.close(done));
      await shared.remove();
      await web[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Each attempt succeeds without a sandbox, so the test would notice it, and fails in one. */
export function testAttempts(
  attempts: readonly Attempt[],
  worlds: () => { readonly open: World; readonly boxed: World },
  preamble: (facts: Facts) => string,
): void {
  for (const attempt of attempts)
    test(attempt.does, async () => {
      const { open, boxed } = worlds();
      if (attempt.uncertain === undefined)
        expect(await open.attempt(attempt, preamble)).toMatchObject({ escaped: true });
      expect(await boxed.attempt(attempt, preamble)).toMatchObject({
        escaped: false,
        text: expect.not.stringMatching(/^escaped/),
      });
    });
}

async function sharedMemoryFile(secret: string): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = `/dev/shm/fairlead-${randomBytes(6).toString("hex")}`;
  await writeFile(path, secret);
  return { path, remove: () => rm(path, { force: true }) };
}

async function answering(path: string, secret: string): Promise<Server> {
  const server = createSocketServer((socket) => {
    socket.on("error", () => {});
    socket.end(secret);
  });
  server.listen(path);
  await once(server, "listening");
  return server;
}

/** Python itself, and not a script of pyenv that looks for it. Throws if there is none. */
export function pythonFile(): string {
  return execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
}

/** A process of the same user, which answers on an abstract socket. */
async function startVictim(
  secret: string,
  abstractName: string,
): Promise<{ readonly victim: ChildProcess; readonly secretAt: number }> {
  const code = `import ctypes, os, socket, sys
kept = ctypes.create_string_buffer(os.environ["SECRET"].encode())
server = socket.socket(socket.AF_UNIX)
server.bind("\\0" + sys.argv[1])
server.listen()
print(ctypes.addressof(kept), flush=True)
while True: server.accept()[0].sendall(kept.value)`;
  const victim = spawn(pythonFile(), ["-c", code, abstractName], {
    env: { PATH: process.env["PATH"], SECRET: secret },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await once(victim.stdout, "data")) as [Buffer];
  return { victim, secretAt: Number(line.toString()) };
}
