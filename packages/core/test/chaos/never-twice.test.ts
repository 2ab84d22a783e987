/** Connections and programs that break at any byte of a call: what is not safe to repeat is never done twice, and its caller learns what became of it. */

import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import {
  type BadNetwork,
  badNetwork,
  keepsPromise,
  programServer,
  type Random,
  type WebRequest,
  webServer,
} from "@fairlead/test-servers";
import { afterAll, expect, test } from "vitest";
import type { CallResult, Host } from "../../src/index.ts";
import { HostError } from "../../src/index.ts";
import { chaosHost, within } from "./scene.ts";

/** No timeout may end a call on a busy machine: only a cut does. */
const patient = { timeout: 600_000 };

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly key: string } };
}

const about = { capabilities: { tools: {} }, serverInfo: { name: "pays", version: "1" } };
const greetings = {
  legacy: ["initialize", { protocolVersion: "2025-11-25", ...about }],
  modern: ["server/discover", { supportedVersions: ["2026-07-28"], ...about }],
} as const;

/** Answers at /ERA/json and /ERA/events, and counts how often the tool `pay` ran for each key. */
function payer(effects: Map<string, number>): (request: WebRequest, response: ServerResponse) => void {
  return ({ method, path, body }, response) => {
    if (method !== "POST") return void response.writeHead(405).end();
    const [, era, form] = path.split("/") as [string, "legacy" | "modern", string];
    const message = JSON.parse(body) as Message;
    if (message.id === undefined) return void response.writeHead(202).end();
    const { key = "" } = message.params?.arguments ?? {};
    if (message.method === "tools/call") effects.set(key, (effects.get(key) ?? 0) + 1);
    const results = new Map<string, object>([
      greetings[era],
      ["tools/list", { tools: [{ name: "pay", inputSchema: { type: "object" } }] }],
      ["tools/call", { content: [{ type: "text", text: key }] }],
    ]);
    const result = results.get(message.method);
    const answer = result
      ? { result: { resultType: "complete", ...result } }
      : { error: { code: -32601, message: "no" } };
    const text = JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer });
    response.writeHead(200, { "content-type": form === "json" ? "application/json" : "text/event-stream" });
    response.end(form === "json" ? text : `id: ${key}\nretry: 1\ndata: ${text}\n\n`);
  };
}

/** What a call came to, to be compared with how often its tool ran. */
type End = "done" | "lost" | "not run";

async function pay(host: Host, server: string, args: { readonly key: string; readonly dies?: string }): Promise<End> {
  try {
    const { content }: CallResult = await within(120, "a call", host.call(server, "pay", args));
    if (JSON.stringify(content) !== JSON.stringify([{ type: "text", text: args.key }]))
      throw new Error(`another call's result: ${JSON.stringify(content)}`);
    return "done";
  } catch (error) {
    if (!(error instanceof HostError) || error.code === "internal") throw error;
    if (error.code !== "lost") return "not run";
    if (!error.message.includes("may or may not have run"))
      throw new Error(`"lost" without saying that it may have run: ${error.message}`, { cause: error });
    return "lost";
  }
}

function compare(key: string, end: End, ran: number): void {
  const isTrue = end === "done" ? ran === 1 : end === "lost" ? ran <= 1 : ran === 0;
  if (!isTrue) throw new Error(`the call ${key} is "${end}", and its tool ran ${ran} times`);
}

/** The length of a request and of a response, about: cuts fall before, into and after them. */
const longest = { up: 900, down: 500 };

function breaks(network: BadNetwork, random: Random): void {
  const isReset = random(2) === 0;
  const kind = random(5);
  if (kind === 0) network.set();
  else if (kind < 3) network.set({ cutUp: 1 + random(longest.up), isReset });
  else network.set({ cutDown: 1 + random(longest.down), isReset, latency: random(3) });
}

const ends = new Map<string, End>();
const effects = new Map<string, number>();

test("over HTTP, in both eras, a connection that breaks at any byte", { timeout: 3_600_000 }, async () => {
  await using web = await webServer(payer(effects));
  const paths = ["legacy/json", "legacy/events", "modern/json", "modern/events"];
  const networks = await Promise.all(paths.map(() => badNetwork(Number(new URL(web.origin).port))));
  const entries = networks.map(({ port }, at) => [
    `s${at}`,
    { httpUrl: `http://127.0.0.1:${port}/${paths[at]}`, ...patient },
  ]);
  {
    await using here = await chaosHost(Object.fromEntries(entries));
    await here.host.start();
    const free = networks.map((network, at) => ({ network, name: `s${at}` }));
    await keepsPromise(
      {
        group: "twice",
        promise: "a call over HTTP is never executed twice, and one that may have run is called so",
        whole: 9000,
        part: 300,
        together: paths.length,
        load: () => `${paths.length} connections cut at once (JSON and events, both eras); ${countEnds()}`,
      },
      async (random, seed) => {
        const lane = free.pop();
        if (lane === undefined) throw new Error("no server is free");
        const key = `web-${seed}`;
        try {
          // After a broken attempt to connect, the host waits before the next one. A call that is not sent proves nothing.
          if (here.host.states().find(({ name }) => name === lane.name)?.status !== "connected")
            await here.host.restart([lane.name]);
          breaks(lane.network, random);
          const end = await pay(here.host, lane.name, { key });
          ends.set(key, end);
          compare(key, end, effects.get(key) ?? 0);
        } finally {
          lane.network.set();
          free.push(lane);
        }
      },
    );
  }
  await Promise.all(networks.map((network) => network[Symbol.asyncDispose]()));
  for (const wanted of ["done", "lost"] as const)
    expect([...ends.values()].filter((end) => end === wanted).length).toBeGreaterThan(ends.size / 5);
  // What was on its way when its caller was told has arrived by now.
  for (const [key, end] of ends) compare(key, end, effects.get(key) ?? 0);
});

function countEnds(): string {
  const all = [...ends.values()];
  const count = (wanted: End): number => all.filter((end) => end === wanted).length;
  return `${count("done")} done, ${count("lost")} may have run, ${count("not run")} not run`;
}

test("over stdio, in both eras, a program that dies at any step", { timeout: 3_600_000 }, async () => {
  ends.clear();
  await keepsPromise(
    {
      group: "twice",
      promise: "a call over stdio is never executed twice, and one that may have run is called so",
      whole: 1000,
      part: 12,
      together: 4,
      load: () => `4 hosts at once; ${countEnds()}`,
    },
    async (random, seed) => {
      const era = random(2) === 0 ? "legacy" : "modern";
      const dies = ["none", "before", "after", "in"][random(4)] ?? "none";
      const key = `stdio-${seed}`;
      let paid = "";
      let end: End;
      {
        await using here = await chaosHost({});
        const file = await here.folder.write("paid", "");
        await using servers = await chaosHost({ odd: { ...programServer("pays", file, era), ...patient } });
        end = await pay(servers.host, "odd", { key, dies });
        await servers.host[Symbol.asyncDispose]();
        paid = await readFile(file, "utf8");
      }
      ends.set(key, end);
      compare(key, end, paid.split("\n").filter((line) => line === key).length);
    },
  );
});

afterAll(() => {
  ends.clear();
  effects.clear();
});
