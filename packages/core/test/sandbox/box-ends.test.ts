import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { chown, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { hasBubblewrap, processesWith, programServer, scaled, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { openBox } from "../../src/sandbox/box.ts";
import { buildProgram } from "../support/build-program.ts";
import { createWorld, serverOf } from "../support/load-settings.ts";
import { openBoxed } from "./open-box.ts";

const canBox = hasBubblewrap("ends and limits of sandboxes");

describe.runIf(canBox)("a server in its sandbox", () => {
  const cycles = scaled(200, 20);

  test(`that begins a session of its own and clears its environment is gone after the host is killed, in ${cycles} cycles`, {
    timeout: 60_000 + cycles * 20_000,
  }, async () => {
    await using folder = await temporaryFolder();
    const home = join(folder.path, "home");
    await mkdir(join(home, "out"), { recursive: true });
    await folder.write("home/.gemini/settings.json", {
      mcpServers: { s: programServer("evaluator") },
      fairlead: { background: "off", servers: { s: { sandbox: { write: ["~/out"] } } } },
    });
    const program = await buildProgram("hold-server", folder.path);
    const mark = `boxed-${process.pid}-${Date.now()}`;
    for (let cycle = 0; cycle < cycles; cycle++) {
      const pipe = join(home, "out", `pipe-${cycle}`);
      execFileSync("mkfifo", [pipe]);
      // The process holds the pipe open for writing. The pipe ends with the process.
      const left = createReadStream(pipe);
      const code = `execSync("setsid env -i bash -c 'exec 0<&- 1>${pipe} 2>&-; echo up; exec -a ${mark} sleep 98765' &")`;
      const host = spawn(process.execPath, [program, home, code], { stdio: ["ignore", "ignore", "inherit"] });
      const [exited] = [once(host, "exit")];
      await once(left, "data");
      const ended = once(left, "close");
      host.kill("SIGKILL");
      await exited;
      await ended;
    }
    expect(processesWith(mark)).toEqual([]);
  });

  test("starts at most 1 000 processes, and all end with it", { timeout: 120_000 }, async () => {
    await using world = await createWorld();
    await world.writeUser({
      mcpServers: { s: { command: process.execPath, args: ["-e", bomb] } },
      fairlead: { servers: { s: { sandbox: "on" } } },
    });
    const { definition } = serverOf(await world.load(), "s");
    if (definition?.sandbox === undefined) throw new Error("the server has no sandbox");
    const { sandbox } = definition;
    const mark = `bomb-${process.pid}-${Date.now()}`;
    const file = process.execPath;
    const target = { kind: "stdio", command: file, args: ["-e", bomb, mark], env: {}, cwd: world.home } as const;
    const boxed = await openBox(
      { ...definition, sandbox },
      { target, file },
      {
        environment: world.environment({ PATH: process.env["PATH"] ?? "" }),
        root: world.root,
        trusted: true,
        state: join(world.home, ".fairlead"),
        settingsFolders: [],
      },
    );
    try {
      const { command, args, inputs = [] } = boxed.target;
      const isRoot = process.getuid?.() === 0;
      // Root is exempt from the limit, so the sandbox belongs to another user.
      if (isRoot) await giveAway(world.folder.path);
      const other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", command];
      const [first = "", ...words] = isRoot ? other : [command];
      const box = spawn(first, [...words, ...args], {
        cwd: "/",
        env: isRoot ? { PATH: process.env["PATH"] } : {},
        stdio: ["pipe", "pipe", "inherit", ...inputs.map(() => "pipe" as const)],
      });
      for (const [index, bytes] of inputs.entries()) {
        const pipe = box.stdio[3 + index];
        if (pipe && "end" in pipe) pipe.on("error", () => {}).end(bytes);
      }
      let text = "";
      for await (const chunk of box.stdout ?? []) {
        text += String(chunk);
        if (text.includes("\n")) break;
      }
      const count = Number(text);
      expect(count).toBeGreaterThan(900);
      expect(count).toBeLessThan(1000);
      const ended = once(box, "exit");
      box.kill("SIGKILL");
      await ended;
      expect(processesWith(mark)).toEqual([]);
    } finally {
      await boxed.close();
    }
  });

  test("that floods its output without a line ends, and the host goes on", async () => {
    await using boxed = await openBoxed();
    const flooded = await boxed
      .run(`for (;;) try { fs.writeSync(1, "x".repeat(65536)) } catch {}`)
      .catch((error: unknown) => String(error));
    expect(flooded).not.toBe("");
    expect(await boxed.run("return 1")).toBe("1");
  });

  test("that closes its input, writes into it and reads its output ends, and the host goes on", async () => {
    await using boxed = await openBoxed();
    const tricks = [
      `fs.writeSync(0, '{"jsonrpc":"2.0","id":1,"result":{}}\\n'.repeat(100))`,
      "fs.closeSync(0)",
      "fs.closeSync(1)",
    ];
    for (const trick of tricks) {
      const said = await boxed
        .run(`try { ${trick} } catch (error) { return error.code } process.exit(0)`)
        .catch(String);
      expect(said).not.toBe("");
      await boxed.host.stop(["s"]);
      expect(await boxed.run("return 1")).toBe("1");
    }
  });
});

/** Starts processes until the kernel refuses, at most 1 500, and prints how many it could start. */
const bomb = `const { spawn } = require("node:child_process");
let count = 0;
while (count < 1500 && spawn("sleep", ["600"], { stdio: "ignore" }).on("error", () => {}).pid !== undefined) count += 1;
console.log(count);`;

/** Gives a folder and what is in it to the user nobody. */
async function giveAway(folder: string): Promise<void> {
  await chown(folder, 65_534, 65_534);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await giveAway(path);
    else await chown(path, 65_534, 65_534);
  }
}
