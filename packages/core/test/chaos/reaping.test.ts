import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import {
  isRunning,
  keepsPromise,
  processesWith,
  programServer,
  type TemporaryFolder,
  temporaryFolder,
  until,
} from "@fairlead/test-servers";
import { afterAll, beforeAll, test } from "vitest";
import { buildProgram } from "../support/build-program.ts";
import { chaosHost, within } from "./scene.ts";

let programs: TemporaryFolder;
let startServers: string;

beforeAll(async () => {
  programs = await temporaryFolder();
  startServers = await buildProgram("start-servers", programs.path, import.meta.dirname);
});
afterAll(() => programs[Symbol.asyncDispose]());

/** A server with a child, a child without environment, a child in its own session, and one whose parent has exited. */
const family = (file: string): object => programServer("family", file);
const load = "each with 4 processes: in its group, without environment, in its own session, without parent";

test("a server that is closed leaves none of its processes", { timeout: 3_600_000 }, async () => {
  await keepsPromise(
    {
      group: "reap",
      promise: "a closed server leaves none of its processes",
      whole: 700,
      part: 6,
      together: 3,
      load: () => `3 hosts at once, ${load}`,
    },
    async (random) => {
      await using folder = await temporaryFolder();
      const file = `${folder.path}/pids`;
      const isStubborn = random(3) === 0;
      let pids: readonly number[] = [];
      {
        await using here = await chaosHost({ odd: isStubborn ? programServer("stubborn", file) : family(file) });
        const started = here.host.start();
        // Some are closed while they start.
        if (random(4) !== 0) await started;
        else await until(() => existsSync(file));
        pids = readPids(file);
        await here.host[Symbol.asyncDispose]();
        await started.catch(() => undefined);
      }
      const left = pids.filter(isRunning);
      if (left.length > 0) throw new Error(`still running: ${left.join(", ")}`);
    },
  );
});

test("a host that is killed leaves no process of its servers", { timeout: 3_600_000 }, async () => {
  await keepsPromise(
    {
      group: "reap",
      promise: "kill -9 of the host leaves no process of its servers",
      whole: 300,
      part: 2,
      together: 2,
      load: () => `2 hosts at once with 2 servers, ${load}`,
    },
    async (random) => {
      await using folder = await temporaryFolder();
      const files = ["one", "two"].map((name) => `${folder.path}/${name}`);
      const env = { PATH: process.env["PATH"], HOME: folder.path };
      const host = spawn(process.execPath, [startServers, JSON.stringify(files.map(family))], {
        env,
        stdio: ["ignore", "pipe", "ignore"],
      });
      const exited = once(host, "exit");
      // Killed while its servers start, or when they have started.
      if (random(3) === 0) await until(() => files.some((file) => existsSync(file)));
      else await once(host.stdout, "data");
      const pids = files.flatMap(readPids);
      host.kill("SIGKILL");
      await exited;
      const isGone = async (): Promise<void> =>
        until(() => !pids.some(isRunning) && processesWith(`HOME=${folder.path}`).length === 0);
      await within(60, "ending the processes", isGone());
    },
  );
});

function readPids(file: string): readonly number[] {
  return existsSync(file) ? readFileSync(file, "utf8").split(" ").filter(Boolean).map(Number) : [];
}
