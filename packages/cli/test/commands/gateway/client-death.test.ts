import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { canMount, isRunning, stdioServer, until } from "@fairlead/test-servers";
import { expect, it } from "vitest";
import { type GatewayMachine, gatewayMachine } from "../../support/gateway-client.ts";
import { processesOf } from "../../support/left-over.ts";
import { program } from "../../support/process.ts";

interface Family {
  readonly pids: Set<number>;
  readonly groups: Set<number>;
}

/** Adds all processes below `root`, and their process groups, to what was seen before. */
function look(root: number, { pids, groups }: Family): void {
  const all = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), relativesOf(Number(name))]),
  );
  function isBelow(pid: number): boolean {
    const { parent = 0 } = all.get(pid) ?? {};
    return pid === root || (parent !== 0 && isBelow(parent));
  }
  for (const [pid, { group }] of all) {
    if (!isBelow(pid)) continue;
    pids.add(pid);
    groups.add(group);
  }
}

interface Relatives {
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

function relativesOf(pid: number): Relatives {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [, parent, group, session] = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
    return { parent: Number(parent), group: Number(group), session: Number(session) };
  } catch {
    return { parent: 0, group: 0, session: 0 };
  }
}

/** A program that starts `fairlead serve`, in a process group of its own. Everything that was ever below it is returned too. */
async function watchedClient(
  { env, project }: GatewayMachine,
  before: readonly string[],
): Promise<{ readonly child: ChildProcess; readonly family: Family }> {
  const words = ["-c", '"$@"; exit', "sh", ...before, process.execPath, program, "serve"];
  const child = spawn("/bin/sh", words, { cwd: project, env, detached: true, stdio: ["pipe", "pipe", "ignore"] });
  const family = { pids: new Set<number>(), groups: new Set<number>() };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "leaves", version: "1" } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })}\n`);
  const looking = new AbortController();
  const greeted = once(child.stdout, "data").finally(() => looking.abort());
  while (!looking.signal.aborted) {
    look(child.pid ?? 0, family);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await greeted;
  look(child.pid ?? 0, family);
  return { child, family };
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // It has ended already.
  }
}

/** Runs a command where the program `setsid` is missing, as on macOS. */
const withoutSetsid = ["unshare", "-m", "sh", "-c", 'mount --bind /dev/null /usr/bin/setsid && exec "$@"', "sh"];

it.each([{ system: "setsid", before: [] }, ...(canMount() ? [{ system: "no setsid", before: withoutSetsid }] : [])])(
  "leaves other clients' calls alone when a client takes its whole process tree and all its groups with it, on a system with $system",
  async ({ before }) => {
    await using here = await gatewayMachine({ counted: stdioServer("counted") });
    await here.run("mcp", "list", "--strict");
    // This client's relay starts the host.
    const { child, family } = await watchedClient(here, before);
    const pid = await here.hostPid();
    const other = await here.client();
    const call = other.call("ask", { method: "elicitation/create", params: { message: "?", requestedSchema: {} } });
    const { id } = await other.told("elicitation/create");

    const exited = once(child, "exit");
    for (const signal of ["SIGHUP", "SIGINT", "SIGTERM", "SIGKILL"] as const) {
      // Numbers that have another owner by now are left alone.
      const ours = processesOf(here).map((line) => Number(line.split(" ")[0]));
      const groups = new Set(ours.map((each) => relativesOf(each).group));
      for (const group of family.groups) if (groups.has(group)) send(-group, signal);
      for (const each of family.pids) if (ours.includes(each)) send(each, signal);
    }
    await exited;
    await until(() => ![...family.pids].some(isRunning));

    other.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: { action: "decline" } })}\n`);
    expect(await call).toMatchObject({
      result: { content: [{ type: "text", text: expect.stringContaining("decline") }] },
    });
    expect(await here.hostPid()).toBe(pid);
    expect(family.pids).not.toContain(pid);
    expect(relativesOf(pid ?? 0)).toMatchObject({ group: pid, session: pid });
  },
);
