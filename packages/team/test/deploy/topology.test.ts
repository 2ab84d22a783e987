/** `npm run team`: the services of the Compose file as processes, with its balancer's file. It prints commands that work. */

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { noteProgram, postgresVersion, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, it } from "vitest";

const repository = fileURLToPath(new URL("../../../..", import.meta.url));
const haproxy = /version (\S+)/i.exec(String(spawnSync("haproxy", ["-v"]).stdout))?.[1];
noteProgram("npm run team", "PostgreSQL", postgresVersion());
noteProgram("two replicas behind the Compose file's balancer", "haproxy", haproxy);

const balancers = haproxy === undefined ? ["node"] : ["haproxy", "node"];

describe.runIf(postgresVersion() !== undefined)("npm run team", () => {
  it.for(balancers)(
    "answers through %s, also when a replica is killed, and leaves nothing behind",
    async (balancer) => {
      await using folder = await temporaryFolder();
      // PostgreSQL runs as another user if this test runs as root.
      await chmod(folder.path, 0o711);
      const port = await freePort();
      const script = join(repository, "scripts/team.mjs");
      const args = [script, "--port", String(port), "--balancer", balancer];
      const env = { PATH: process.env["PATH"], HOME: folder.path, TMPDIR: folder.path, NO_COLOR: "1" };
      const team = spawn(process.execPath, args, { cwd: folder.path, env });
      try {
        const words = await wordsOf(team);
        const commandAfter = (title: string): string => words.split(`${title}\n  `)[1]?.split("\n")[0] ?? "";
        const call = async (): Promise<string> => {
          const shell = spawn("sh", ["-c", commandAfter("Call a tool as Ada (grace.json is another person):")], {
            cwd: repository,
            env: { ...env, PWD: repository },
          });
          const [out, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
          return out === "" ? errors : out;
        };
        expect(await call()).toBe("Hello, Ada!\n");
        const initialized = spawn("sh", ["-c", commandAfter("With curl:")], { env });
        expect(await text(initialized.stdout)).toContain('"serverInfo":{"name":"fairlead"');
        const [pid] = /kill -9 (\d+)/.exec(words)?.slice(1) ?? [];
        process.kill(Number(pid), "SIGKILL");
        // Two calls: a balancer that does not notice would send one of them to the killed replica.
        expect([await call(), await call()]).toEqual(["Hello, Ada!\n", "Hello, Ada!\n"]);
        const [own = ""] = /removes (\S+)/.exec(words)?.slice(1) ?? [];
        expect(existsSync(own)).toBe(true);
        const ended = once(team, "exit");
        team.kill("SIGINT");
        await ended;
        expect(existsSync(own)).toBe(false);
      } finally {
        team.kill("SIGKILL");
      }
    },
  );

  it("says what its options are", () => {
    const help = spawnSync(process.execPath, [join(repository, "scripts/team.mjs"), "--help"], { encoding: "utf8" });
    expect(help.stdout).toContain("--balancer haproxy|node");
  });
});

/** Resolves with what it prints when it is ready. */
async function wordsOf(team: ChildProcessWithoutNullStreams): Promise<string> {
  let out = "";
  let errors = "";
  team.stderr.setEncoding("utf8").on("data", (part: string) => {
    errors += part;
  });
  const exited = once(team, "exit").then(() => {
    throw new Error(`npm run team ended: ${errors}`);
  });
  exited.catch(() => undefined);
  const printed = new Promise<string>((resolve) => {
    team.stdout.setEncoding("utf8").on("data", (part: string) => {
      out += part;
      if (out.includes("Ctrl-C stops everything and removes")) resolve(out);
    });
  });
  return Promise.race([printed, exited]);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
