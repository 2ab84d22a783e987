import { stdioServer } from "@fairlead/test-servers";
import { expect, it } from "vitest";
import { gatewayMachine } from "../../support/gateway-client.ts";
import { processesOf } from "../../support/left-over.ts";

it("shows, stops and restarts the background host, and its clients stay connected", async () => {
  await using here = await gatewayMachine({ counted: stdioServer("counted") });
  const json = async (...words: readonly string[]): Promise<unknown> =>
    JSON.parse((await here.run("daemon", ...words, "--json")).stdout);
  expect((await here.run("daemon", "status")).stdout).toBe("not running\n");
  expect(await json("status")).toEqual({ schemaVersion: 1, running: false, clients: [], servers: [] });
  expect(await json("stop")).toEqual({ schemaVersion: 1, stopped: false });

  const client = await here.client("--client", "cursor");
  const first = await here.hostPid();
  expect((await here.run("daemon", "status")).stdout).toMatch(
    new RegExp(
      `^running: process ${first}, version \\d+\\.\\d+\\.\\d+\nclients: cursor\nservers: .*counted \\w+.*\nPATH: .+\n$`,
    ),
  );
  expect(await json("status")).toHaveProperty("path", here.env["PATH"]);
  expect(await json("restart")).toEqual({
    schemaVersion: 1,
    pid: expect.any(Number),
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
  });
  expect(await here.hostPid()).not.toBe(first);
  expect(await client.ask("ping")).toMatchObject({ result: {} });

  expect((await here.run("daemon", "stop")).stdout).toMatch(/^stopped: process \d+\n$/);
  expect(processesOf(here).filter((line) => line.includes("__host"))).toEqual([]);
  expect(await client.ask("ping")).toMatchObject({ result: {} });
  expect(await here.hostStarts()).toBe(3);

  const { stdout: path } = await here.run("daemon", "logs", "--path");
  expect(path).toBe(`${here.home}/.fairlead/run/host.log\n`);
  const { stdout } = await here.run("daemon", "logs", "--grep", "ends");
  expect(stdout.match(/ note ends: asked to stop$/gm)).toHaveLength(2);
  expect(await here.run("daemon", "logs", "--grep", "no such line")).toMatchObject({
    stdout: "",
    stderr: `0 lines in ${path}`,
  });
  expect(await here.run("daemon", "logs", "-f", "--json")).toMatchObject({ code: 2 });
});
