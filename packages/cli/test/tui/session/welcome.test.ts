import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { askIfWaiting, chooseAtStart } from "../../../src/tui/session/begin.ts";
import { hostTool, slashScene } from "../../support/tui/slash-services.ts";

const manual = { provider: "manual", name: "manual" };
const found = { kind: "model", model: { provider: "gemini", name: "clever" } };
const none = { kind: "none", next: "Set GEMINI_API_KEY." };
const ollama = (...models: readonly string[]) => ({ kind: "offer", ollama: { models } });

const base = {
  environment: { env: { PATH: "/nowhere" }, platform: "linux", home: "/home", cwd: "/project" },
  settings: { files: [] },
  locations: { root: "/project", rootFrom: "marker", files: { workspace: "/project/.gemini/settings.json" } },
  trust: { trusted: false, detail: "no rule covers it" },
};
const servers = ["a", "b"].map((name) => ({ server: { name } }));

/** Starts the app and returns what it does, and for which model it asked. */
async function start(wanted: string | undefined, choice: unknown, configuration: object = {}) {
  const asked: unknown[] = [];
  const find = async (name?: string) => {
    asked.push(name);
    return choice;
  };
  const tools = [hostTool("demo", "greet"), hostTool("demo", "wait")];
  const scene = slashScene({
    configuration: { ...base, ...configuration },
    host: { tools: (server: string) => (server === "demo" ? tools : []) },
    services: { models: { manual, find } } as object,
  });
  const done = await scene.run(
    { name: "", summary: "", run: (_words, services) => chooseAtStart(services, wanted) },
    "",
  );
  const [kind, title, text] = (done.at(-1) ?? []) as readonly string[];
  expect([kind, title]).toEqual(["show", "Fairlead"]);
  return { done: done.slice(0, -1), asked, lines: text?.split("\n") ?? [] };
}

const modelLines = (lines: readonly string[]): readonly string[] => lines.slice(3, lines.indexOf(""));

test("without servers, the user sees where Fairlead looked, how to try the demo server and how to add a server", async () => {
  const { done, asked, lines } = await start(undefined, none);
  expect([done, asked]).toEqual([[["start", { servers: ["demo"] }]], [undefined]]);
  expect(lines).toEqual([
    "workspace  /project (not trusted: no rule covers it)",
    "settings   none yet",
    "servers    none configured",
    "model      no model configured: call tools yourself, as server.tool key=value",
    "           Set GEMINI_API_KEY. Then start Fairlead again.",
    "",
    "To try things out, use the built-in server demo: greet, wait.",
    "  demo.greet path=text",
    "  /form demo.greet     the same, as a form",
    "  /tools     list the tools",
    "",
    "To add a server:",
    "  /mcp add -s user NAME https://…     a server on the network",
    "  /mcp import     the servers of your other programs",
    "",
    "/help shows everything; /mcp shows the servers.",
  ]);
});

test("with servers, the user sees their names, the settings files and the model", async () => {
  const files = [
    { file: "/home/a.json", state: "read" },
    { file: "/home/b.json", state: "absent" },
    { file: "/home/c.json", state: "broken" },
  ];
  const configuration = { servers, settings: { files }, trust: { trusted: true, detail: "a rule" } };
  const { done, asked, lines } = await start("clever", found, configuration);
  expect([done, asked]).toEqual([
    [
      ["set model", "clever"],
      ["start", { servers: ["demo"] }],
    ],
    ["clever"],
  ]);
  expect(lines).toEqual([
    "workspace  /project (trusted: a rule)",
    "settings   /home/a.json, /home/c.json (broken)",
    "servers    a, b",
    "model      clever",
    "",
    "/help shows everything; /mcp shows the servers.",
  ]);
});

const noModel = "model      no model configured: call tools yourself, as server.tool key=value";

test.each([
  ["manual", none, [], ["model      none (--model manual): call tools yourself, as server.tool key=value"]],
  [undefined, ollama("a", "b"), [undefined], [noModel, "           Ollama is running with a, b. To use one: /model a"]],
  [
    "x",
    ollama("a"),
    ["x"],
    [noModel, '           No configured provider has the model "x". Ollama is running with a. To use one: /model a'],
  ],
  [
    undefined,
    ollama("1", "2", "3", "4", "5"),
    [undefined],
    [noModel, "           Ollama is running with 1, 2, 3, 4, 5. To use one: /model 1"],
  ],
  [
    undefined,
    ollama("1", "2", "3", "4", "5", "6"),
    [undefined],
    [noModel, "           Ollama is running with 1, 2, 3, 4, 5, …. To use one: /model 1"],
  ],
  [undefined, ollama(), [undefined], [noModel, "           Ollama is running with . To use one: /model NAME"]],
])("with --model %s, the user sees which models there are", async (wanted, choice, asked, expected) => {
  const started = await start(wanted, choice, { servers });
  expect([started.asked, modelLines(started.lines)]).toEqual([asked, expected]);
});

test.each([
  ["npx", "memory npx -y @modelcontextprotocol/server-memory"],
  ["uvx", "time uvx mcp-server-time"],
])("a machine with %s can start the suggested server", async (program, words) => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, program), "#!/bin/sh\n", { mode: 0o755 });
  const environment = { ...base.environment, env: { PATH: folder.path } };
  const { lines } = await start(undefined, none, { environment });
  expect(lines).toContain(`  /mcp add -s user ${words}`);
});

test("the demo server is not started if the user has a server of that name", async () => {
  const own = [{ server: { name: "demo", definition: { name: "demo" } }, admission: { status: "admitted" } }];
  expect((await start("clever", found, { servers: own })).done).toEqual([["set model", "clever"]]);
});

test.each(["admitted", "blocked"])(
  "a server that is %s for another reason does not make the app ask",
  async (status) => {
    const configuration = { servers: [{ admission: { status, reason: "excluded" } }] };
    const scene = slashScene({ configuration });
    expect(await scene.run({ name: "", summary: "", run: (_words, services) => askIfWaiting(services) }, "")).toEqual(
      [],
    );
  },
);
