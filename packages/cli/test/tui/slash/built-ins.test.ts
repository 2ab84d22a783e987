import type { Model } from "@fairlead/core/model/model";
import { describe, expect, test } from "vitest";
import { lookFor, namedServer, serverNames } from "../../../src/tui/slash/command.ts";
import { builtIns, commandsOf, helpGroups } from "../../../src/tui/slash/commands.ts";
import { idle } from "../../support/tui/app-state.ts";
import { conversationTool, slashScene } from "../../support/tui/slash-services.ts";

const command = (wanted: string) => builtIns.find(({ name }) => name === wanted) ?? expect.fail(wanted);
const [help, history, model] = [command("help"), command("history"), command("model")];
const [policy, quit, trust] = [command("policy"), command("quit"), command("trust")];

test("the user has these commands, with these arguments and summaries", () => {
  expect(builtIns.map(({ name, usage = "", summary }) => `/${name} ${usage}: ${summary}`)).toEqual([
    "/mcp [list|desc|schema|logs|reload|start|stop|restart|enable|disable|auth|test|search|add|remove|import|get|logout|pin] [SERVER]: list and manage servers",
    "/tools [SERVER] | [on|off] SERVER[.TOOL]: list the tools of this conversation, or switch tools on or off",
    "/resources [SERVER]: list the servers' resources; to use one in a message, type @ and its name",
    "/prompts [SERVER]: list the servers' prompts",
    "/call SERVER.TOOL [key=value …]: call a tool yourself; the model sees the result with your next message",
    "/form SERVER.TOOL [key=value …]: call a tool by filling in a form",
    "/clear : start a new conversation on an empty screen",
    "/resume [ID]: continue an earlier conversation",
    "/rename NAME: give the conversation a name",
    "/compact [undo]: shorten the conversation: the model continues from its own summary; to undo this: /compact undo",
    "/copy : copy the last answer to the clipboard",
    "/export FILE: write the conversation to a new Markdown file",
    "/model [NAME|manual]: choose a model from a list, or switch to the named one",
    "/policy [list|explain|allow|ask|deny|remove] [SERVER.TOOL]: show and change the rules for tool calls",
    "/trust [add|list|remove]: trust this folder and its servers, or revoke the trust",
    "/history [--server NAME] [--denied] [--since 1d]: show recent calls and the rules that decided them",
    "/console : open a page in the browser with all servers, calls and questions",
    "/help [COMMAND|keys|all]: list the commands; with a name, one command; keys: all keys; all: everything",
    "/quit : quit (also: Ctrl-C twice on an empty prompt)",
  ]);
});

test("prompts of servers are commands after the built-in ones, and each command runs with the app's services", async () => {
  const prompt = (server: string, name: string) => ({ server, name, serverPromptName: name, arguments: [] });
  const scene = slashScene({ host: { prompts: () => [prompt("s", "teach"), prompt("s", "quit")] } });
  const all = commandsOf(scene.services);
  expect(all.slice(builtIns.length - 1).map(({ name }) => name)).toEqual(["quit", "teach", "s.quit"]);
  const found = all.find(({ name }) => name === "rename");
  await expect(async () => found?.run("", scene.services)).rejects.toThrow("the conversation's name is missing");
});

describe("the functions that commands share", () => {
  test("servers are suggested with their status in words", () => {
    expect(serverNames(slashScene().services)).toEqual([
      { value: "files", about: "connected" },
      { value: "docs", about: "needs auth" },
    ]);
  });

  test.each([
    [100, 96],
    [25, 21],
    [24, 20],
    [23, 20],
    [10, 20],
  ])("on a screen with %j columns, lists have %j", (columns, wanted) => {
    const { services } = slashScene({ state: { ...idle, size: { columns, rows: 24 } } });
    expect(lookFor(services).columns).toBe(wanted);
  });

  test("a server's name may have blanks around it, and an unknown one is an error", () => {
    const { services } = slashScene();
    expect([namedServer(" files ", services), namedServer("", services), namedServer("  ", services)]).toEqual([
      "files",
      undefined,
      undefined,
    ]);
    expect(() => namedServer("other", services)).toThrow('there is no server "other"');
  });
});

const listRules = ["show", "/policy list", "output of policy list"];

test.each([
  ["", [["run", "policy", "list"], listRules]],
  ["list", [["run", "policy", "list"], listRules]],
  [
    "explain a.b",
    [
      ["run", "policy", "explain", "a.b"],
      ["show", "/policy explain", "output of policy explain a.b"],
    ],
  ],
  ...["allow", "ask", "deny", "remove"].map((verb): [string, unknown[]] => [
    `${verb} "a.b c" d`,
    [
      ["change"],
      ["run", "policy", verb, "a.b c", "d"],
      ["show", `/policy ${verb}`, `output of policy ${verb} a.b c d`],
    ],
  ]),
])("/policy %s", async (words, done) => {
  expect(await slashScene().run(policy, words)).toEqual(done);
});

test("/policy suggests its verbs, and then the tools of the conversation", () => {
  const tools = [conversationTool("files", "read"), conversationTool("files", "off", { enabled: false })];
  const { services } = slashScene({ conversation: { tools: () => tools } });
  expect(policy.complete?.([], services)).toEqual([
    { value: "list", about: "list the rules" },
    { value: "explain", about: "show which rule decides for a tool" },
    { value: "allow", about: "allow a tool to run without confirmation" },
    { value: "ask", about: "ask you before each call of a tool" },
    { value: "deny", about: "deny every call of a tool" },
    { value: "remove", about: "remove a rule" },
  ]);
  expect(policy.complete?.(["allow"], services)).toEqual([
    { value: "files.read", about: "the tool read" },
    { value: "files.off", about: "the tool off" },
  ]);
});

const listTrust = [
  ["run", "trust", "list"],
  ["show", "/trust list", "output of trust list"],
];

test.each([
  ["list", listTrust],
  ["nonsense", listTrust],
  ["remove", [["change"], ["run", "trust", "remove"], ["show", "/trust remove", "output of trust remove"]]],
  ["remove /a", [["change"], ["run", "trust", "remove", "/a"], ["show", "/trust remove", "output of trust remove /a"]]],
])("/trust %s", async (words, done) => {
  expect(await slashScene().run(trust, words)).toEqual(done);
});

test("/trust and /history suggest their arguments", () => {
  const { services } = slashScene();
  expect(trust.complete?.([], services)).toEqual([{ value: "add" }, { value: "list" }, { value: "remove" }]);
  expect(trust.complete?.(["add"], services)).toEqual([]);
  const options = ["--server", "--tool", "--since", "--denied", "--utc", "--limit"].map((value) => ({ value }));
  expect(history.complete?.(["--server"], services)).toEqual(options);
});

test("/history waits until the history is written, and passes its options on", async () => {
  expect(await slashScene().run(history, "--server 'a b'")).toEqual([
    ["flush history"],
    ["run", "history", "--limit", "20", "--server", "a b"],
    ["show", "/history", "output of history --limit 20 --server a b"],
  ]);
});

test("/quit ends the app", async () => {
  expect(await slashScene().run(quit, "")).toEqual([["quit"]]);
});

describe("/model", () => {
  const manual = { provider: "manual", name: "manual" };
  const clever = { provider: "gemini", name: "clever" };
  const found = (name: string) => ({ kind: "model", model: { provider: "gemini", name } });
  const ollama = (...models: readonly string[]) => ({ kind: "offer", ollama: { models } });

  const scene = (current: Pick<Model, "provider" | "name">, choice?: unknown, list: object = {}, answer?: number) => {
    const asked: unknown[] = [];
    const find = async (name?: string) => {
      asked.push(name);
      return choice ?? found(name ?? "chosen");
    };
    const models = { manual, find, list: async () => ({ models: [], problems: [], ...list }) };
    const services = { models } as object;
    return { ...slashScene({ session: { model: () => current }, services, answers: [answer] }), asked };
  };
  const doubt = " Fairlead did not check that this model exists; your next message will show whether it does.";

  test.each([
    [
      manual,
      "manual",
      [
        ["set model", "manual"],
        ["note", "info", "No model: you call the tools yourself."],
      ],
      [],
    ],
    [
      clever,
      " manual ",
      [
        ["set model", "manual"],
        ["note", "info", "No model: you call the tools yourself."],
      ],
      [],
    ],
    [
      clever,
      "",
      [["note", "info", "The model is clever. Its API gives no list of models.", "/model NAME or /model manual"]],
      [],
    ],
    [
      clever,
      "other",
      [
        ["set model", "other"],
        ["note", "info", `The model is now other.${doubt}`],
      ],
      ["other"],
    ],
    [
      manual,
      "other",
      [
        ["set model", "other"],
        ["note", "info", `The model is now other.${doubt}`],
      ],
      ["other"],
    ],
    [
      manual,
      "",
      [
        ["set model", "chosen"],
        ["note", "info", "The model is now chosen."],
      ],
      [undefined],
    ],
  ])("with the model %j, /model %s", async (current, words, done, asked) => {
    const app = scene(current as Pick<Model, "provider" | "name">);
    expect([await app.run(model, words), app.asked]).toEqual([done, asked]);
  });

  test.each([
    ["", { kind: "none", next: "Set GEMINI_API_KEY." }, "no model configured", "Set GEMINI_API_KEY."],
    ["x", { kind: "none", next: "Set it." }, 'no model "x": no configured provider has it', "Set it."],
    ["", ollama("a", "b"), "no model configured; Ollama is running with a, b", "/model a"],
    ["x", ollama("a"), 'no model "x": no configured provider has it; Ollama is running with a', "/model a"],
    ["", ollama(), "no model configured; Ollama is running with ", "/model NAME"],
  ])("without a model, /model %s explains what is missing", async (words, choice, text, next) => {
    expect(await scene(manual as Model, choice).run(model, words)).toEqual([["note", "warning", text, next]]);
  });

  const other = { provider: "gemini", name: "other" };
  const claude = { provider: "anthropic", name: "claude" };
  const words = "manual: no model, you call the tools yourself";
  test.each([
    [clever, [other, clever], ["other", "clever (current)", words], 1],
    [manual, [other, clever], ["other", "clever", `${words} (current)`], 0],
    [clever, [other, claude], ["clever · gemini (current)", "other · gemini", "claude · anthropic", words], 0],
  ])("without a name, the models of the API can be chosen; with %j", async (current, models, options, selected) => {
    const now = current === manual ? manual : { ...current };
    const title = "Which model do you want to use?";
    const question = { kind: "choice", serverName: "Fairlead", message: title, options, selected };
    const asked = ["ask", "choice", question];
    expect(await scene(now, undefined, { models }).run(model, "")).toEqual([asked]);
    const chosen = options.indexOf(options.find((each) => each.startsWith("other")) ?? "");
    expect(await scene(now, undefined, { models }, chosen).run(model, "")).toEqual([
      asked,
      ["set model", "other"],
      ["note", "info", "The model is now other."],
    ]);
    // The current one stays, without another line in the recorded conversation.
    expect(await scene(now, undefined, { models }, now === manual ? 2 : selected).run(model, "")).toEqual([asked]);
  });

  test("an API that gives no list is named, beside the list of another one", async () => {
    const problems = [{ message: "http://x sent no list", next: "fairlead mcp list" }];
    const [note, asked] = await scene(clever, undefined, { models: [clever], problems }).run(model, "");
    expect(note).toEqual(["note", "warning", "http://x sent no list", "/mcp list"]);
    expect(asked).toMatchObject(["ask", "choice", { options: ["clever (current)", words] }]);
  });

  test("suggests manual mode as its only argument", () => {
    const { services } = slashScene();
    expect(model.complete?.([], services)).toEqual([
      { value: "manual", about: "no model: you call the tools yourself" },
    ]);
    expect(model.complete?.(["x"], services)).toEqual([]);
  });
});

describe("/help", () => {
  const commands = [
    { name: "one", usage: "[X]", summary: "first\u200b" },
    { name: "two", summary: "second" },
  ];
  const shown = async (words: string): Promise<readonly unknown[]> => {
    const [told = []] = await slashScene({ session: { commands: () => commands } }).run(help, words);
    return told as readonly unknown[];
  };

  test("names every built-in command once, and fits a screen of 24 rows and 80 columns", async () => {
    expect(helpGroups.flatMap(([names]) => names).toSorted()).toEqual(builtIns.map(({ name }) => name).toSorted());
    const [kind, title, text] = await shown("");
    expect([kind, title]).toEqual(["show", "/help"]);
    const rows = String(text).split("\n");
    expect(rows).toContain("  server.tool key=value …     call a tool yourself");
    expect(rows).toContain("  /tools /resources /prompts  what the servers offer");
    // The title, the prompt and the status line need four rows.
    expect(rows.length).toBeLessThanOrEqual(20);
    expect(rows.filter((row) => row.length > 76)).toEqual([]);
  });

  test("shows one command, all keys, or everything, with invisible characters of a server", async () => {
    expect(await shown("/one")).toEqual(["show", "/help one", "  /one [X]  first⟨U+200B⟩"]);
    const [, , keys] = await shown("keys");
    expect(String(keys)).toMatch(/^ {2}Ctrl-R +search earlier entries/m);
    expect(await shown("all")).toEqual([
      "show",
      "/help all",
      `  /one [X]  first⟨U+200B⟩\n  /two      second\n\n${String(keys)}`,
    ]);
    expect(await shown("three")).toEqual(["throw", "usage", "there is no command /three", "/help"]);
  });
});
