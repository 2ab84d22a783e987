import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRunning, stdioServer, until } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { untilWritten } from "./support/file-event.ts";
import { processesOf } from "./support/left-over.ts";
import { type Machine, machine, userFile } from "./support/machine.ts";
import { program, runProcess } from "./support/process.ts";
import { openTerminal } from "./support/terminal.ts";

const calm = { good: stdioServer("well-behaved"), family: stdioServer("family") };
const stubborn = { stubborn: stdioServer("stubborn") };

interface StuckMachine extends Machine {
  /** Resolves with the process numbers of the servers that are up and of all that they have started, while the command waits for one more. */
  middle(): Promise<readonly number[]>;
}

/** One server keeps every command that connects to it waiting, so that there is a middle to end it in. */
async function stuckMachine(...names: readonly ("family" | "stubborn")[]): Promise<StuckMachine> {
  const here = await machine();
  const files = names.map((name) => join(here.path, `${name}.up`));
  const servers = names.map((name, at) => [name, stdioServer(name, files[at] ?? "")]);
  await here.write(userFile, { mcpServers: { ...Object.fromEntries(servers), silent: stdioServer("silent") } });
  return {
    ...here,
    async middle() {
      await Promise.all(files.map((file) => untilWritten(file, (text) => text !== "")));
      const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
      return texts.flatMap((text) => text.split(" ").map(Number));
    },
  };
}

function start({ env, project }: Machine, ...argv: readonly string[]) {
  const command = spawn(process.execPath, [program, ...argv], { cwd: project, env, stdio: "ignore" });
  const ended = once(command, "exit");
  return {
    ended,
    kill: (signal: NodeJS.Signals) => command.kill(signal),
    async [Symbol.asyncDispose]() {
      command.kill("SIGKILL");
      await ended;
    },
  };
}

describe.concurrent("a command leaves no process behind", () => {
  test.each([
    ["tools", calm],
    ["mcp list --json", { ...calm, ...stubborn }],
    ["mcp test stubborn", stubborn],
  ])("when `%s` ends by itself", async (words, mcpServers) => {
    await using here = await machine({ [userFile]: { mcpServers } });
    const { code } = await runProcess(here, ...words.split(" "));
    expect(code).toBe(0);
    expect(processesOf(here)).toEqual([]);
  });

  test("when its server started others, also without an environment or in another session", async () => {
    await using here = await machine({ [userFile]: { mcpServers: calm } });
    const { stdout } = await runProcess(here, "call", "family.echo", "text=");
    const pids = stdout.trim().split(" ").map(Number);
    expect(pids.map((pid) => pid > 1)).toEqual([true, true, true, true, true]);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(processesOf(here)).toEqual([]);
  });

  test.each([
    ["SIGTERM", 143, ["family", "stubborn"]],
    ["SIGINT", 130, ["family"]],
    ["SIGHUP", 129, ["family"]],
    ["SIGQUIT", 131, ["family"]],
  ] as const)("when %s comes in the middle", async (signal, code, names) => {
    await using here = await stuckMachine(...names);
    await using command = start(here, "mcp", "list");
    const pids = await here.middle();
    expect(pids.filter((pid) => !isRunning(pid))).toEqual([]);
    command.kill(signal);
    expect(await command.ended).toEqual([code, null]);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(processesOf(here)).toEqual([]);
  });

  test("when Ctrl-C is typed in the middle", async () => {
    await using here = await stuckMachine("family", "stubborn");
    await using terminal = openTerminal(here, "mcp", "list");
    const pids = await here.middle();
    terminal.type("\u0003");
    expect(await terminal.exitCode).toBe(130);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(processesOf(here)).toEqual([]);
  });

  // Its watchdog does it: the command has no time to. Which of two signals at once comes first is the system's choice.
  test.each([
    ["SIGKILL", ["SIGKILL"], [null, "SIGKILL"]],
    ["a second signal", ["SIGHUP", "SIGTERM"], [expect.toBeOneOf([129, 143]), null]],
  ] as const)("when %s ends it in the middle, a little later", async (_name, signals, ending) => {
    await using here = await stuckMachine("family", "stubborn");
    await using command = start(here, "mcp", "list");
    const pids = await here.middle();
    for (const signal of signals) command.kill(signal);
    expect(await command.ended).toEqual(ending);
    await until(() => !pids.some(isRunning));
    await until(() => processesOf(here).length === 0);
  });
});
