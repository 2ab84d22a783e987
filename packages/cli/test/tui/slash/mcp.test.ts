import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { logPath } from "@fairlead/core/connect/server-log";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { mcp } from "../../../src/tui/slash/mcp.ts";
import { configured } from "../../support/server-definition.ts";
import { conversationTool, hostTool, peer, slashScene } from "../../support/tui/slash-services.ts";

test("/mcp suggests its verbs, then servers, then the options of the verb", () => {
  const { services } = slashScene();
  const complete = (...before: readonly string[]) => mcp.complete?.(before, services);
  expect(complete()?.map(({ value, about }) => `${value}: ${about}`)).toEqual([
    "list: show the state of each server",
    "desc: show the descriptions of tools",
    "schema: show the input schemas of tools",
    "logs: show the end of a server's log",
    "reload: reload the settings",
    "start: connect to a server",
    "stop: stop a server until it is needed again",
    "restart: stop a server and start it again",
    "enable: allow a server to start",
    "disable: stop a server and do not start it again",
    "auth: sign in to a server",
    "test: test the connection to a server",
    "search: find servers in MCP registries",
    "add: add a server to the settings",
    "remove: remove a server from the settings",
    "import: import servers from other programs",
    "get: show one server in full",
    "logout: sign out and delete the stored tokens",
    "pin: write the exact version of a server into the settings",
  ]);
  const servers = [
    { value: "files", about: "connected" },
    { value: "docs", about: "needs auth" },
  ];
  for (const verb of ["list", "desc", "stop", "auth", "remove", "get"]) expect(complete(verb)).toEqual(servers);
  for (const verb of ["reload", "add"]) expect(complete(verb)).toEqual([]);
  expect([complete("stop", "files"), complete("auth", "files", "--device")]).toEqual([[], []]);
  expect(complete("auth", "files")).toEqual([{ value: "--device", about: "sign in with a code on another device" }]);
});

const ran = (words: string): readonly unknown[] => ["run", "mcp", ...words.split(" ")];
const shown = (verb: string, words: string): readonly unknown[] => ["show", `/mcp ${verb}`, `output of mcp ${words}`];

test.each<[string, readonly unknown[]]>([
  ["", [["open panel"]]],
  ["reload", [["reload"]]],
  ["start files", [["start", "files"]]],
  ["stop 'my files'", [["stop", "my files"]]],
  ["restart files", [["restart", "files"]]],
  ["enable files", [["enable", "files"]]],
  ["disable files", [["disable", "files"]]],
  ["test files --device", [["test", "files"]]],
  ["auth files", [["auth", "files", { device: false }]]],
  ["auth files --device", [["auth", "files", { device: true }]]],
  ["auth --device files", [["auth", "files", { device: true }]]],
  ["auth", [ran("auth"), shown("auth", "auth")]],
  ["auth --device", [["throw", "usage", "/mcp auth needs a server name", "/mcp auth NAME --device"]]],
  ["start", [["throw", "usage", "/mcp start needs a server name", "/mcp start NAME"]]],
  ["get files", [ran("get files"), shown("get", "get files"), ["start"]]],
  ["add a b", [["change"], ran("add a b"), shown("add", "add a b"), ["start"]]],
  ["import", [["change"], ran("import"), shown("import", "import"), ["start"]]],
  ["remove a", [["change"], ran("remove a"), shown("remove", "remove a"), ["start"]]],
  ["logout a", [["change"], ran("logout a"), shown("logout", "logout a"), ["start"]]],
  [
    "nonsense a",
    [
      [
        "throw",
        "usage",
        'unknown command "/mcp nonsense"',
        "/mcp [list|desc|schema|logs|reload|start|stop|restart|enable|disable|auth|test|search|add|remove|import|get|logout|pin] [SERVER]",
      ],
    ],
  ],
])("/mcp %s", async (words, done) => {
  expect(await slashScene().run(mcp, words)).toEqual(done);
});

test("a server that fails to start after a change of the settings is reported", async () => {
  const failure = new Error("no such program");
  const scene = slashScene({ host: { start: () => Promise.reject(failure) } });
  const first = await scene.run(mcp, "remove a");
  await new Promise((resolve) => setImmediate(resolve));
  expect([...first, ...(await scene.run(mcp, ""))].slice(-2)).toEqual([["fail", failure], ["open panel"]]);
});

test("/mcp without a panel and /mcp list show the state of each server, with commands for the app", async () => {
  const states = [
    { name: "files", since: 0, status: "connected", peer },
    {
      name: "docs",
      since: 0,
      status: "needs_auth",
      reason: "auth_required",
      message: "sign in",
      next: "fairlead mcp auth docs",
    },
    { name: "demo", since: 0, status: "disconnected", reason: "lazy" },
  ];
  const servers = ["files", "docs"].map((name) => ({
    server: configured({ name }),
    admission: { status: "admitted" },
  }));
  const counts = { tools: 2, prompts: 0, resources: 0, resourceTemplates: 0 };
  const cached = ["other", "docs"].map((server) => ({ server, offer: counts, savedAt: Date.now() - 100 * 3_600_000 }));
  const scene = slashScene({
    host: { states: () => states, recall: async () => cached },
    configuration: { servers },
    services: { openPanel: undefined } as object,
  });
  const list = await scene.run(mcp, "list");
  const text = `files  connected
docs   needs sign-in; cached: 2 tools (4 days ago)
  next: /mcp auth docs
demo   idle; built in`;
  expect(list).toEqual([["show", "/mcp list", text]]);
  const verbose = `files  connected
  stdio: run a --token (hidden)
  from /home/settings.json:3:5 (user)
  not sandboxed
docs  needs sign-in
  stdio: run a --token (hidden)
  from /home/settings.json:3:5 (user)
  not sandboxed
  cached: 2 tools (4 days ago)
  why: sign in
  next: /mcp auth docs
demo  idle; built in`;
  expect(await scene.run(mcp, "list -v")).toEqual([["show", "/mcp list -v", verbose]]);
  const one = verbose.slice(0, verbose.indexOf("\ndocs"));
  expect(await scene.run(mcp, "list files")).toEqual([["show", "/mcp list files", one]]);
  expect(await scene.run(mcp, "")).toEqual(list);
});

test("/mcp desc and /mcp schema show the tools of one server, or of all", async () => {
  const described = { type: "object", properties: { path: { type: "string", description: "where it is" } } };
  const all = [
    hostTool("files", "read", { inputSchema: described }),
    hostTool("docs", "find", { inputSchema: { type: "object" } }),
  ];
  const scene = slashScene({
    host: { tools: (server?: string) => all.filter((tool) => server === undefined || tool.server === server) },
    conversation: { tools: () => [conversationTool("files", "read"), conversationTool("docs", "find")] },
  });
  const read = "files: 1 tool\n\n  read(path?: string)\n      the tool read\n      path: where it is";
  const find = "docs: 1 tool\n\n  find()\n      the tool find";
  expect(await scene.run(mcp, "desc")).toEqual([["show", "/mcp desc", `${read}\n\n${find}`]]);
  expect(await scene.run(mcp, "desc docs")).toEqual([["show", "/mcp desc", find]]);
  const schema = (tool: (typeof all)[0] | undefined): string => JSON.stringify(tool?.inputSchema, null, 2);
  const [first, second] = [`files.read\n${schema(all[0])}`, `docs.find\n${schema(all[1])}`];
  expect(await scene.run(mcp, "schema")).toEqual([["show", "/mcp schema", `${first}\n\n${second}`]]);
  expect(await scene.run(mcp, "schema docs")).toEqual([["show", "/mcp schema", second]]);
  expect(await slashScene().run(mcp, "schema")).toEqual([["show", "/mcp schema", "No tools found."]]);
  expect(await scene.run(mcp, "desc other")).toEqual([["throw", "server_unknown", 'there is no server "other"']]);
});

test("/mcp logs shows the last 40 lines of a server's log", async () => {
  await using folder = await temporaryFolder();
  const scene = slashScene({ configuration: { locations: { state: folder.path } } });
  expect(await scene.run(mcp, "logs files")).toEqual([["show", "/mcp logs files", "The log is empty."]]);
  const path = logPath(folder.path, "files");
  const lines = Array.from({ length: 41 }, (_, at) => `line ${at}`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, lines.join("\n"));
  const text = [`… 1 earlier lines in ${path}`, ...lines.slice(1)].join("\n");
  expect(await scene.run(mcp, "logs files")).toEqual([["show", "/mcp logs files", text]]);
  expect(await scene.run(mcp, "logs")).toEqual([["throw", "server_unknown", 'there is no server ""']]);
});
