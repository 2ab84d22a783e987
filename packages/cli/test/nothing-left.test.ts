import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { isRunning, stdioServer, until } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { processesOf } from "./left-over.ts";
import { type Machine, machine, userFile } from "./machine.ts";
import { program, runProcess } from "./process.ts";
import { openTerminal } from "./terminal.ts";

const calm = { good: stdioServer("well-behaved"), family: stdioServer("family") };
const stubborn = { stubborn: stdioServer("stubborn") };
/** The last one keeps every command that connects to it waiting, so that there is a middle to end it in. */
const stuck = { ...calm, ...stubborn, silent: stdioServer("silent") };

/** The command waits for one server; the others are up with all that they start. */
function isInTheMiddle(here: Machine): boolean {
  const running = processesOf(here);
  const count = (word: string): number => running.filter((line) => line.includes(word)).length;
  return count("silent.mjs") === 1 && count("stubborn.mjs") === 1 && count("echo $$") === 3;
}

function start({ env, project }: Machine, ...argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, [program, ...argv], { cwd: project, env, stdio: "ignore" });
}

describe.concurrent("a command leaves no process behind", () => {
  test.each([
    ["mcp list", calm],
    ["tools", calm],
    ["mcp list --json", stubborn],
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
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGQUIT", 131],
  ] as const)("when %s comes in the middle", async (signal, code) => {
    await using here = await machine({ [userFile]: { mcpServers: stuck } });
    const command = start(here, "mcp", "list");
    const ended = once(command, "exit");
    await until(() => isInTheMiddle(here));
    command.kill(signal);
    expect(await ended).toEqual([code, null]);
    expect(processesOf(here)).toEqual([]);
  });

  test("when Ctrl-C is typed in the middle", async () => {
    await using here = await machine({ [userFile]: { mcpServers: stuck } });
    const terminal = openTerminal(here, "mcp", "list");
    await until(() => isInTheMiddle(here));
    terminal.type("\u0003");
    expect(await terminal.exitCode).toBe(130);
    expect(processesOf(here)).toEqual([]);
  });

  // Its watchdog does it: the command has no time to. Which of two signals at once comes first is the system's choice.
  test.each([
    ["SIGKILL", ["SIGKILL"], [null, "SIGKILL"]],
    ["a second signal", ["SIGHUP", "SIGTERM"], [expect.toBeOneOf([129, 143]), null]],
  ] as const)("when %s ends it in the middle, a little later", async (_name, signals, ending) => {
    await using here = await machine({ [userFile]: { mcpServers: stuck } });
    const command = start(here, "mcp", "list");
    const ended = once(command, "exit");
    await until(() => isInTheMiddle(here));
    for (const signal of signals) command.kill(signal);
    expect(await ended).toEqual(ending);
    await until(() => processesOf(here).length === 0);
  });
});
