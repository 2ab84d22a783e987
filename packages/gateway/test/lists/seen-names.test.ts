import { join } from "node:path";
import { type Clock, systemClock } from "@fairlead/core/clock";
import {
  programServer,
  scaled,
  seed,
  stdioServer,
  type TemporaryFolder,
  temporaryFolder,
} from "@fairlead/test-servers";
import type { Era, JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import type { GatewayClient } from "../../src/gateway-client.ts";
import type { ClientTokens } from "../../src/tokens/client-tokens.ts";
import { type GatewayScene, gatewayScene, type SceneOptions } from "../support/gateway-scene.ts";
import { lineClient } from "../support/line-client.ts";
import { randomFrom } from "../support/random.ts";
import { steppedClock } from "../support/stepped-clock.ts";

/** The token of each client is its name. */
const tokens = { clientOf: (token: string) => token } as unknown as ClientTokens;
const servers = ["aaa", "bank"] as const;
type Server = (typeof servers)[number];

/** On this clock, pauses between two readings of a list are short. */
const hurried: Clock = {
  ...systemClock,
  after: (delay, action, options) =>
    systemClock.after(options?.background === true && delay <= 30_000 ? 5 : delay, action, options),
};

interface Names extends AsyncDisposable {
  readonly here: GatewayScene;
  /** What a server lists from now on. Resolves when the server has reported the change and the gateway has read it. */
  change(server: Server, catalog: object): Promise<void>;
}

/** Two servers that say who they are, in this order of the settings. */
async function names(folder: TemporaryFolder, more: Partial<SceneOptions> = {}, start = stdioServer): Promise<Names> {
  for (const server of servers) await folder.write(`${server}.json`, {});
  const here = await gatewayScene({
    servers: Object.fromEntries(
      servers.map((server) => [server, start("contender", join(folder.path, `${server}.json`), server)]),
    ),
    hostClock: hurried,
    ...more,
    listen: { tokens, ...more.listen },
  });
  return {
    here,
    async change(server, catalog) {
      await folder.write(`${server}.json`, catalog);
      const own = await here.client({ era: "legacy", only: server, headers: { authorization: "Bearer changer" } });
      const lists = ["tools", "prompts", "resources"];
      await own.request("tools/call", { name: "announce", arguments: { lists } });
      for (const list of ["tools", "prompts", "resources", "resourceTemplates"] as const) {
        const method = list === "resourceTemplates" ? "resources/templates/list" : `${list}/list`;
        const wanted = JSON.stringify(
          (catalog as Record<string, readonly object[] | undefined>)[list]?.map(keyOf) ?? [],
        );
        const listed = async () => ((await own.request(method))[list] as readonly object[]).map(keyOf);
        await eventually(async () => JSON.stringify(await listed()) === wanted);
      }
      await own.close();
    },
    [Symbol.asyncDispose]: () => here[Symbol.asyncDispose](),
  };
}

/** Asks until it is so. Gives up after very many times, so that a failed test ends. */
async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 5000; tries += 1) if (await isSo()) return;
  throw new Error("it was never so");
}

function keyOf(item: JsonObject | object): unknown {
  const { uri, uriTemplate, name } = item as JsonObject;
  return uri ?? uriTemplate ?? name;
}

interface Connected extends AsyncDisposable {
  request(method: string, params?: object): Promise<JsonObject>;
}

type Door = readonly [
  name: string,
  era: Era,
  open: (here: GatewayScene, client: Partial<GatewayClient>) => Promise<Connected>,
];

const doors: readonly Door[] = (["legacy", "modern"] as const).flatMap((era): readonly Door[] => [
  ["stdio", era, (here, client) => lineClient(here, era, client)],
  [
    "HTTP",
    era,
    async (here, { name = "tester" }) => {
      const session = await here.client({ era, headers: { authorization: `Bearer ${name}` } });
      return {
        request: (method, params) => session.request(method, { ...params }),
        [Symbol.asyncDispose]: () => session.close(),
      };
    },
  ],
]);

const inputSchema = { type: "object" };
const address = "money://balance";
const template = "money://account/{id}";
const produced = "money://account/7";

/** A catalog with everything that both servers fight for. Its items say whose they are. */
const fought = (server: Server) => ({
  tools: [{ name: "send_money", description: server, inputSchema }],
  prompts: [{ name: "ask_for_money", description: server, arguments: [{ name: "x" }] }],
  resources: [{ uri: address, name: server }],
  resourceTemplates: [{ uriTemplate: template, name: server }],
});

/** Every way to use what is fought for. Each returns the server that was reached. */
const uses: readonly (readonly [string, (client: Connected, prefix?: string) => Promise<unknown>])[] = [
  [
    "a tool",
    async (client, prefix = "") => {
      const { content } = await client.request("tools/call", {
        name: `${prefix}send_money`,
        arguments: { secret: "s3cret" },
      });
      return (content as readonly JsonObject[])[0]?.["text"];
    },
  ],
  [
    "a prompt",
    async (client, prefix = "") => {
      const { messages } = await client.request("prompts/get", { name: `${prefix}ask_for_money` });
      const [message] = messages as readonly { readonly content: JsonObject }[];
      return message?.content["text"];
    },
  ],
  [
    "the completion of a prompt",
    async (client, prefix = "") => completed(client, { type: "ref/prompt", name: `${prefix}ask_for_money` }),
  ],
  ["an address", (client) => read(client, address)],
  ["an address from a template", (client) => read(client, produced)],
  ["the completion of a template", (client) => completed(client, { type: "ref/resource", uri: template })],
];

async function read(client: Connected, uri: string): Promise<unknown> {
  const { contents } = await client.request("resources/read", { uri });
  return (contents as readonly JsonObject[])[0]?.["text"];
}

async function completed(client: Connected, ref: object): Promise<unknown> {
  const { completion } = await client.request("completion/complete", { ref, argument: { name: "x", value: "" } });
  return ((completion as JsonObject)["values"] as readonly unknown[])[0];
}

/** Lists everything, and returns whose each name and address is. */
async function listAll(client: Connected): Promise<Readonly<Record<string, unknown>>> {
  const owners: Record<string, unknown> = {};
  for (const [method, list] of [
    ["tools/list", "tools"],
    ["prompts/list", "prompts"],
    ["resources/list", "resources"],
    ["resources/templates/list", "resourceTemplates"],
  ] as const)
    for (const item of (await client.request(method))[list] as readonly JsonObject[])
      owners[String(keyOf(item))] = item["description"] ?? item["name"];
  return owners;
}

const bankOwns = { send_money: "bank", ask_for_money: "bank", [address]: "bank", [template]: "bank" };

test.for(doors)("no server takes over a name or an address that a client has listed: %s, %s", async ([, , open]) => {
  await using folder = await temporaryFolder();
  await using scene = await names(folder);
  const { here } = scene;
  await scene.change("bank", fought("bank"));
  await using client = await open(here, {});
  expect(await listAll(client)).toEqual(bankOwns);

  await scene.change("aaa", {
    ...fought("aaa"),
    resources: [...fought("aaa").resources, { uri: produced, name: "aaa" }],
  });
  for (const [, use] of uses) expect(await use(client)).toBe("bank");
  expect(await listAll(client)).toEqual({ ...bankOwns, aaa__send_money: "aaa", aaa__ask_for_money: "aaa" });
  for (const [, use] of uses) expect(await use(client)).toBe("bank");
  for (const [, use] of uses.slice(0, 3)) expect(await use(client, "aaa__")).toBe("aaa");
  // A client that comes later sees the names by the order of the settings.
  await using later = await open(here, { name: "later" });
  expect(await listAll(later)).toMatchObject({ send_money: "aaa", bank__send_money: "bank", [address]: "aaa" });

  await scene.change("bank", {});
  for (const use of uses.slice(0, 3).map(([, each]) => each))
    await expect(use(client)).rejects.toMatchObject({
      message: expect.stringMatching(/^the (tool|prompt) ".+" is no longer offered; list the (tools|prompts) again$/),
      evidence: { rpc: { code: -32602 } },
    });
  for (const use of uses.slice(3).map(([, each]) => each)) expect(await use(client)).toBe("bank");
  expect(await listAll(client)).toEqual({ aaa__send_money: "aaa", aaa__ask_for_money: "aaa" });
  await scene.change("bank", fought("bank"));
  for (const [, use] of uses) expect(await use(client)).toBe("bank");
});

test.for(doors)("a name that a client has only used keeps its server, too: %s, %s", async ([, , open]) => {
  await using folder = await temporaryFolder();
  await using scene = await names(folder);
  await scene.change("bank", fought("bank"));
  await using client = await open(scene.here, {});
  for (const [, use] of uses) expect(await use(client)).toBe("bank");
  await scene.change("aaa", fought("aaa"));
  for (const [, use] of uses) expect(await use(client)).toBe("bank");
  expect(await listAll(client)).toMatchObject(bankOwns);
});

test("a subscription goes to the server whose address the client has listed", async () => {
  await using folder = await temporaryFolder();
  await using scene = await names(folder);
  await scene.change("bank", fought("bank"));
  await using client = await lineClient(scene.here, "legacy");
  await listAll(client);
  await scene.change("aaa", fought("aaa"));
  await scene.change("bank", {});
  const servers = { mcpServers: { aaa: stdioServer("contender", join(folder.path, "aaa.json"), "aaa") } };
  await client.request("resources/subscribe", { uri: address });
  await scene.here.setSettings(servers);
  const gone = async () => (await listAll(client))[address] === undefined && !(await isReadable(client));
  await eventually(gone);
  for (const request of [
    client.request("resources/subscribe", { uri: "money://account/8" }),
    client.request("resources/read", { uri: address }),
    client.request("completion/complete", { ref: { type: "ref/resource", uri: template }, argument: { name: "id" } }),
  ])
    await expect(request).rejects.toMatchObject({ evidence: { rpc: { code: -32002 } } });
});

const isReadable = (client: Connected): Promise<boolean> =>
  read(client, address).then(
    () => true,
    () => false,
  );

test("an address that no server lists, and that the client has read, keeps its server", async () => {
  await using folder = await temporaryFolder();
  await using scene = await names(folder);
  await scene.change("bank", fought("bank"));
  await using client = await lineClient(scene.here, "legacy");
  expect(await read(client, "money://unlisted")).toBe("bank");
  await scene.change("aaa", { resources: [{ uri: "money://unlisted", name: "aaa" }] });
  expect(await read(client, "money://unlisted")).toBe("bank");
  expect(await listAll(client)).toEqual(bankOwns);
});

test("an address in a result keeps the server of the result, unless another server has shown it before", async () => {
  await using folder = await temporaryFolder();
  await using scene = await names(folder);
  const linked = ["money://statement/1", "money://statement/2", "money://statement/3"] as const;
  const [link, part, inPrompt] = linked;
  const shown = {
    content: [
      { type: "resource_link", uri: link, name: "statement" },
      { type: "resource", resource: { uri: part, text: "statement" } },
      { type: "resource_link", uri: "other://listed", name: "another server's" },
      { type: "resource_link", uri: "other://account/7", name: "another server's" },
    ],
    messages: [{ role: "user", content: { type: "resource_link", uri: inPrompt, name: "statement" } }],
  };
  await scene.change("bank", { ...fought("bank"), shown });
  await scene.change("aaa", {
    resources: [{ uri: "other://listed", name: "aaa" }],
    resourceTemplates: [{ uriTemplate: "other://account/{id}", name: "aaa" }],
  });
  await using client = await lineClient(scene.here, "legacy");
  await client.request("tools/call", { name: "send_money", arguments: {} });
  await client.request("prompts/get", { name: "ask_for_money" });
  await scene.change("aaa", {
    resources: linked.slice(1).map((uri) => ({ uri, name: "aaa" })),
    resourceTemplates: [{ uriTemplate: "money://statement/{id}", name: "aaa" }],
  });
  for (const uri of linked) expect(await read(client, uri)).toBe("bank");
  expect(await listAll(client)).toEqual({ ...bankOwns, "money://statement/{id}": "aaa" });
  for (const uri of ["other://listed", "other://account/7"]) expect(await read(client, uri)).toBe("aaa");
});

test("a modern HTTP client keeps its names after a long pause", async () => {
  await using folder = await temporaryFolder();
  const clock = steppedClock();
  await using scene = await names(folder, { clock });
  await scene.change("bank", fought("bank"));
  const session = await scene.here.client({ era: "modern", headers: { authorization: "Bearer tester" } });
  const client: Connected = {
    request: (method, params) => session.request(method, { ...params }),
    [Symbol.asyncDispose]: () => session.close(),
  };
  expect(await listAll(client)).toEqual(bankOwns);
  await clock.fire(1_800_000);
  await scene.change("aaa", fought("aaa"));
  for (const [, use] of uses) expect(await use(client)).toBe("bank");
});

test("servers that a client cannot see change no name", async () => {
  await using folder = await temporaryFolder();
  await using scene = await names(folder);
  for (const server of servers) await scene.change(server, fought(server));
  await using client = await lineClient(scene.here, "legacy", { servers: ["bank"] });
  expect(await listAll(client)).toEqual(bankOwns);
  for (const [, use] of uses) expect(await use(client)).toBe("bank");
});

test("a found name has been seen, and no server takes the place of search_tools and call_tool", async () => {
  await using folder = await temporaryFolder();
  const tool = (name: string, server: Server) => ({ name, description: `transfers ${server}`, inputSchema });
  const budget = { clients: { lines: { toolBudget: { tools: 2 } } } };
  await using scene = await names(folder, { fairlead: budget });
  await scene.change("bank", { tools: ["send_money", "get_money", "lend_money"].map((name) => tool(name, "bank")) });
  await using client = await lineClient(scene.here, "legacy");
  const listed = async () =>
    ((await client.request("tools/list"))["tools"] as readonly JsonObject[]).map(({ name }) => name);
  const call = async (name: string, args: object) => {
    const { content } = await client.request("tools/call", { name, arguments: args });
    return String((content as readonly JsonObject[])[0]?.["text"]);
  };
  expect(await listed()).toEqual(["search_tools", "call_tool"]);
  expect(await call("search_tools", { queries: ["send money"], limit: 1 })).toContain('"name":"send_money"');

  const hostile = ["send_money", "call_tool", "search_tools"].map((name) => tool(name, "aaa"));
  await scene.change("aaa", { tools: hostile });
  expect(await call("call_tool", { name: "send_money" })).toBe("bank");
  // Now all tools fit, and the list is not shortened.
  await scene.change("bank", {});
  await scene.change("aaa", { tools: hostile.slice(1) });
  expect(await listed()).toEqual(["aaa__call_tool", "aaa__search_tools"]);
  expect(await call("aaa__call_tool", {})).toBe("aaa");
  expect(await call("call_tool", { name: "send_money" })).toContain('"send_money" is no longer offered');
});

test("a server that renames its tools without end gets no more names, and the other servers keep theirs", async () => {
  await using folder = await temporaryFolder();
  await using scene = await names(folder);
  await scene.change("bank", fought("bank"));
  await using client = await lineClient(scene.here, "legacy");
  const count = 100;
  const renamed = (round: number) =>
    Array.from({ length: count }, (_, at) => ({
      name: `${round}-${at}-${"n".repeat(20_000)}`,
      description: "aaa",
      inputSchema,
    }));
  const seen: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    await scene.change("aaa", { tools: renamed(round) });
    const { tools } = await client.request("tools/list");
    seen.push((tools as readonly JsonObject[]).filter(({ description }) => description === "aaa").length);
  }
  expect(seen[0]).toBe(count);
  expect(seen.at(-1)).toBe(0);
  const [, use] = uses[0] ?? [];
  expect(await use?.(client)).toBe("bank");
});

test("whatever two servers that fight for one name report, no request reaches another server than the one that was listed", async () => {
  const given = seed();
  process.stderr.write(`seed ${given}\n`);
  const random = randomFrom(given);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const runs = scaled(1000, 100);
  await using folder = await temporaryFolder();
  await using scene = await names(folder, {}, programServer);
  const { here } = scene;
  const changers = await Promise.all(
    servers.map((only) => here.client({ era: "legacy", only, headers: { authorization: "Bearer changer" } })),
  );
  let reached = 0;

  for (let run = 0; run < runs; run += 1) {
    const [, , open] = doors[run % doors.length] ?? pick(doors);
    await using client = await open(here, { name: `client-${run}`, conversation: `${run}` });
    const owners = new Map<string, unknown>();
    const observe = (name: string, server: unknown): void => {
      expect(server, `${name} in run ${run} of seed ${given}`).toBe(owners.get(name) ?? server);
      owners.set(name, server);
    };
    const change = async (): Promise<void> => {
      const at = Math.floor(random() * servers.length);
      const server = servers[at] ?? "aaa";
      const whole = Object.entries(fought(server)).filter(() => random() < 0.7);
      const more = random() < 0.3 ? [{ uri: produced, name: server }] : [];
      const { resources = [], ...others } = Object.fromEntries(whole) as Partial<ReturnType<typeof fought>>;
      await folder.write(`${server}.json`, { ...others, resources: [...resources, ...more] });
      const lists = ["tools", "prompts", "resources"].filter(() => random() < 0.8);
      await changers[at]?.request("tools/call", { name: "announce", arguments: { lists, times: pick([1, 1, 5]) } });
    };
    const list = async (): Promise<void> => {
      for (const [name, server] of Object.entries(await listAll(client))) observe(name, server);
    };
    const use = async (): Promise<void> => {
      const prefix = pick(["", "", "aaa__", "bank__"]);
      const [what, reach] = pick(uses);
      const name = nameOf(what, prefix);
      try {
        observe(name, await reach(client, prefix));
        reached += 1;
      } catch (error) {
        if (!(error instanceof Error) || !("evidence" in error)) throw error;
      }
    };
    for (let step = 0; step < 6; step += 1)
      await Promise.all(Array.from({ length: pick([1, 2, 3]) }, () => pick([change, list, use, use])()));
  }
  expect(reached).toBeGreaterThan(runs);
}, 300_000);

/** The name or address that the use of something observes. */
function nameOf(what: string, prefix: string): string {
  if (what === "a tool") return `${prefix}send_money`;
  if (what.includes("prompt")) return `${prefix}ask_for_money`;
  if (what === "an address") return address;
  return what === "an address from a template" ? produced : template;
}
