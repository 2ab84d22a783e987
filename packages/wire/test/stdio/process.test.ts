import { randomBytes } from "node:crypto";
import { childrenOf, isRunning, processesWith, scaled, until } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createProcessRegistry } from "../../src/stdio/process-registry.ts";
import { createWatchdog } from "../../src/stdio/watchdog.ts";
import { family, openServer, pidsOf, program } from "../support/stdio-server.ts";

const path = process.env["PATH"] ?? "/usr/bin:/bin";
const newMark = () => randomBytes(8).toString("hex");
const rounds = scaled(200, 8);
const quick = { endGrace: 200, termGrace: 100 };

describe("closing a server", () => {
  const keeper = createProcessRegistry();

  test.each([
    ["that heeds the end of stdin", [], undefined],
    ["that heeds nothing", ["stubborn"], undefined],
    ["that has left the others behind", ["orphans"], 3],
    ["that has left others behind who heed nothing", ["orphans", "stubborn"], 3],
  ])("%s ends its whole family", async (_, how, exitCode) => {
    const mark = newMark();
    const server = await openServer(family(...how), {
      target: { env: { PATH: path, MARK: mark } },
      times: quick,
      keeper,
    });
    const [message] = await server.arrived(1);
    const pids = pidsOf(message);
    expect(pids).toHaveLength(5);
    if (exitCode !== undefined) expect(await server.closed).toMatchObject({ code: "exited", evidence: { exitCode } });
    await server.channel.close();
    expect(pids.filter(isRunning)).toEqual([]);
    expect(processesWith(mark)).toEqual([]);
    expect(server.diagnostics).toEqual([]);
  });

  test("that has exited takes its family along even if the session is not closed", async () => {
    const mark = newMark();
    const server = await openServer(family("orphans"), {
      target: { env: { PATH: path, MARK: mark } },
      times: quick,
      keeper,
    });
    await server.closed;
    await until(() => processesWith(mark).length === 0);
    // Waits for the search that found no process.
    await server.channel.close();
  });

  test("while it is still starting leaves nothing", async () => {
    const mark = newMark();
    const servers = Array.from({ length: 8 }, async () => {
      const target = { env: { PATH: path, MARK: mark } };
      const server = await openServer(family("stubborn"), {
        target,
        times: { endGrace: 5, termGrace: 5 },
        keeper,
      });
      await server.channel.close();
    });
    await Promise.all(servers);
    expect(processesWith(mark)).toEqual([]);
  });

  test(`${rounds} times, several at once, leaves nothing`, { timeout: 600_000 }, async () => {
    const mark = newMark();
    const pids: number[] = [];
    const cycle = async (number: number) => {
      const how = [["stubborn"], ["orphans"], [], ["orphans", "stubborn"]][number % 4] ?? [];
      const server = await openServer(family(...how), {
        target: { env: { PATH: path, MARK: mark } },
        times: { endGrace: 20, termGrace: 20 },
        keeper,
      });
      const [message] = await server.arrived(1);
      pids.push(...pidsOf(message));
      await server.channel.close();
    };
    for (let done = 0; done < rounds; done += 4) await Promise.all([0, 1, 2, 3].map((one) => cycle(done + one)));
    expect(pids).toHaveLength(5 * rounds);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(processesWith(mark)).toEqual([]);
  });
});

describe("the account of a host's servers", () => {
  const watchdogs = () => childrenOf(process.pid, "fairlead-watchdog").filter(isRunning);
  const none = (): Promise<void> => until(() => watchdogs().length === 0);

  test("needs one watchdog for all of them, and none when they are gone", async () => {
    await none();
    const keeper = createProcessRegistry();
    const servers = await Promise.all(Array.from({ length: 5 }, () => openServer(program("echo.mjs"), { keeper })));
    await until(() => watchdogs().length > 0);
    expect(watchdogs()).toHaveLength(1);
    await Promise.all(servers.map(({ channel }) => channel.close()));
    await none();
    const again = await openServer(program("echo.mjs"), { keeper });
    await until(() => watchdogs().length > 0);
    expect(watchdogs()).toHaveLength(1);
    await again.channel.close();
    await none();
  });

  test("is not upset by commands that cannot be started", async () => {
    const keeper = createProcessRegistry();
    const missing = { ...program("echo.mjs"), command: "/no/such/file" };
    await Promise.allSettled(Array.from({ length: 5 }, () => openServer(missing, { keeper })));
    await none();
  });

  test("is not another host's: the end of one host's servers leaves the other's alone", async () => {
    const [first, second] = await Promise.all([
      openServer(program("echo.mjs"), { keeper: createProcessRegistry() }),
      openServer(program("echo.mjs"), { keeper: createProcessRegistry() }),
    ]);
    await first.channel.close();
    await second.channel.send({ still: "there" });
    expect(await second.arrived(1)).toEqual([{ echo: { still: "there" } }]);
    await second.channel.close();
    await none();
  });

  test("is watched by Node where there is no shell", async () => {
    const watchdog = createWatchdog({ prefix: "NONE=", termGrace: 100, shell: "/no/such/shell" });
    const inNode = () => childrenOf(process.pid, "fairlead-watchdog").filter(isRunning);
    watchdog.busy();
    await until(() => inNode().length === 1);
    watchdog.idle();
    await until(() => inNode().length === 0);
  });
});
