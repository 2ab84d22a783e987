/** A host under load for minutes, with a fault every few seconds: the other servers notice nothing, memory and descriptors stay flat. */

import { readdirSync } from "node:fs";
import {
  badNetwork,
  behaves,
  notePromise,
  processesWith,
  programServer,
  randomFrom,
  scaled,
  seed,
  until,
  webServer,
} from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { chaosHost, echoes, heldLoad, isExplained, within } from "./scene.ts";

const faultEvery = scaled(5000, 50);
const faults = scaled(120, 6);
const group = "soak";

test(`${faults} faults under load`, { timeout: 3_600_000 }, async () => {
  const random = randomFrom(seed());
  await using web = await webServer(behaves);
  await using network = await badNetwork(Number(new URL(web.origin).port));
  const steady = ["s0", "s1", "s2", "s3"];
  await using here = await chaosHost({
    ...Object.fromEntries(steady.map((name) => [name, programServer("well-behaved")])),
    web: { httpUrl: `${web.origin}/mcp` },
    hit: { ...programServer("well-behaved"), timeout: 2000, env: { HIT: "yes" } },
    far: { httpUrl: `http://127.0.0.1:${network.port}/mcp`, timeout: 2000 },
  });
  const { host } = here;
  await host.start();
  const held = heldLoad();

  let made = 0;
  let isOver = false;
  const wrong: unknown[] = [];
  /** Calls all the time, one call after the other, so that a slow machine is called less often. */
  const caller = async (server: string): Promise<void> => {
    while (!isOver && wrong.length < 10) {
      made += 1;
      try {
        await echoes(host, server, `${made}`);
      } catch (error) {
        wrong.push(error);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const callers = Promise.all([...steady, "web"].map(caller));
  const begin = performance.now();
  const samples: { readonly heap: number; readonly descriptors: number }[] = [];

  const attempts = {
    "a killed server": () => kill("SIGKILL"),
    "a stopped server": () => kill("SIGSTOP"),
    "a reset network": () => network.set({ cutDown: random(200), isReset: true }),
    "a network that swallows everything": () => network.set({ isHole: true }),
    "a slow network": () => network.set({ latency: 300, slice: 10 }),
    "a reload of the settings": () => void host.restart(["hit"]),
  };
  const kill = (signal: NodeJS.Signals): void => {
    for (const line of processesWith("HIT=yes")) process.kill(Number.parseInt(line, 10), signal);
  };
  let back = 0;
  for (let at = 0; at < faults; at += 1) {
    const names = Object.keys(attempts) as (keyof typeof attempts)[];
    const name = names[random(names.length)] ?? "a killed server";
    attempts[name]();
    // What happens to calls of the servers that are hit is a result or a named error.
    for (const server of ["hit", "far"])
      await echoes(host, server, "hit").catch((error: unknown) => {
        if (!isExplained(error)) throw error;
      });
    await new Promise((resolve) => setTimeout(resolve, faultEvery));
    network.set();
    kill("SIGCONT");
    for (const server of ["hit", "far"])
      await within(
        60,
        `${server} after ${name}`,
        until(() => works(server)),
      );
    back += 1;
    samples.push({ heap: process.memoryUsage().heapUsed / 2 ** 20, descriptors: readdirSync("/proc/self/fd").length });
  }
  const seconds = (performance.now() - begin) / 1000;
  isOver = true;
  await callers;
  const load = `${(made / seconds).toFixed(0)} calls/s for ${seconds.toFixed(0)} s, ${held.text()}`;
  notePromise({
    group,
    promise: "a server is back at most 60 s after its fault ends",
    tries: faults,
    failures: faults - back,
    load,
  });
  notePromise({
    group,
    promise: "calls of other servers during faults succeed",
    tries: made,
    failures: wrong.length,
    load,
  });
  expect(wrong).toEqual([]);
  const [first, last] = [samples[Math.floor(samples.length / 3)], samples.at(-1)];
  expect((last?.descriptors ?? 0) - (first?.descriptors ?? 0)).toBeLessThan(20);

  async function works(server: string): Promise<boolean> {
    return echoes(host, server, "again").then(
      () => true,
      () => false,
    );
  }
});
