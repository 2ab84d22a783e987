import type { HostPrompt } from "@fairlead/core/host";
import { expect, test } from "vitest";
import type { Services } from "../../../src/tui/services.ts";
import { asTyped, promptCommands, valueQuestion } from "../../../src/tui/slash/prompt-commands.ts";
import { slashScene } from "../../support/tui/slash-services.ts";

const prompt = (serverPromptName: string): HostPrompt => ({
  server: "evil",
  name: serverPromptName,
  serverPromptName,
  arguments: [],
});

test("prompts are listed under the names by which they run here, also where one of ours is called the same", () => {
  const prompts = [prompt("quit"), prompt("review")];
  const commands = promptCommands(prompts, new Set(["quit"])).map((each) => ({ ...each, run() {} }));
  expect(asTyped(prompts, commands).map(({ name }) => name)).toEqual(["evil.quit", "review"]);
});

test.each([
  [
    ["user", "assistant", "user"],
    [
      { role: "user", parts: [{ text: "0" }] },
      { role: "model", parts: [{ text: "1" }] },
    ],
    "2",
  ],
  [
    ["user", "assistant"],
    [
      { role: "user", parts: [{ text: "0" }] },
      { role: "model", parts: [{ text: "1" }] },
    ],
    "Go on from there.",
  ],
  [["user"], [], "0"],
])("the messages of a prompt keep their roles: %j", async (roles, before, last) => {
  const messages = roles.map((role, at) => ({ role, content: { type: "text", text: String(at) } }));
  const sent: unknown[] = [];
  const registered = { ...prompt("talk"), serverName: "evil", name: "talk", description: "" };
  const session = {
    model: () => ({ provider: "scripted" }),
    host: {
      getPrompt: async () => ({ messages }),
      promptRegistry: { getPrompt: () => registered, getAllPrompts: () => [registered] },
    },
    send: (...input: readonly unknown[]) => sent.push(input),
  };
  const [talk] = promptCommands([registered], new Set());
  await talk?.run("", { session } as unknown as Services);
  expect(sent).toEqual([[[{ text: last }], "/talk", before]]);
});

const teach: HostPrompt = {
  server: "knots",
  name: "teach",
  serverPromptName: "teach",
  title: "Teach a knot",
  description: "Explains a knot.",
  arguments: [
    { name: "knot", required: true, description: "which knot" },
    { name: "audience", required: false },
    { name: "depth", required: true },
    { name: "style", required: false, description: "how" },
  ],
};
const registered = { ...teach, serverName: "knots", description: "" };

/** The command of the prompt, in an app without a model or with one. */
function teachScene({ provider = "manual", answers = [] as readonly unknown[], prompt = teach } = {}) {
  const requested: unknown[] = [];
  const scene = slashScene({
    answers,
    session: { model: () => ({ provider }) },
    host: {
      getPrompt: async (...request: readonly unknown[]) => {
        requested.push(request);
        return { messages: [{ role: "user", content: { type: "text", text: "Tie it." } }], notes: [] };
      },
      promptRegistry: { getPrompt: () => registered, getAllPrompts: () => [registered] },
    },
  });
  const [command] = promptCommands([prompt], new Set());
  return { requested, run: (words: string) => scene.run(command ?? expect.fail("no command"), words) };
}

const shownMessage = (title: string): readonly unknown[] => ["show", title, "user:\n  Tie it."];

test.each([
  ["knot=bowline depth=deep", { knot: "bowline", depth: "deep" }],
  ["bowline deep", { knot: "bowline", depth: "deep" }],
])("without a model, /teach %s shows the messages of the prompt", async (words, args) => {
  const scene = teachScene();
  expect(await scene.run(words)).toEqual([shownMessage(`/teach ${words}`)]);
  expect(scene.requested).toEqual([["knots", "teach", args]]);
});

test("with a model, the messages are sent to it under the command that the user typed", async () => {
  const scene = teachScene({ provider: "gemini" });
  expect(await scene.run("bowline deep")).toEqual([["send", [{ text: "Tie it." }], "/teach bowline deep", []]]);
});

test("a form asks for the arguments if none is typed but some are required", async () => {
  const schema = {
    type: "object",
    properties: {
      knot: { type: "string", description: "which knot" },
      audience: { type: "string" },
      depth: { type: "string" },
      style: { type: "string", description: "how" },
    },
    required: ["knot", "depth"],
  };
  const question = {
    kind: "form",
    serverName: "knots",
    toolName: "teach",
    message: "Teach a knot",
    schema,
    purpose: "arguments",
  };
  const filled = teachScene({ answers: [{ action: "accept", content: { knot: "bowline", depth: 2 } }] });
  expect(await filled.run("")).toEqual([["ask", "form", question], shownMessage("/teach")]);
  expect(filled.requested).toEqual([["knots", "teach", { knot: "bowline", depth: "2" }]]);
  const empty = teachScene({ answers: [{ action: "accept" }] });
  await empty.run(" ");
  expect(empty.requested).toEqual([["knots", "teach", {}]]);
  for (const action of ["decline", "cancel"]) {
    const refused = teachScene({ answers: [{ action }] });
    expect([await refused.run(""), refused.requested]).toEqual([[["ask", "form", question]], []]);
  }
});

test("the form of a prompt without a title has its name", async () => {
  const { title: _, ...untitled } = teach;
  const [[, , question] = []] = (await teachScene({
    prompt: untitled,
    answers: [{ action: "cancel" }],
  }).run("")) as readonly (readonly unknown[])[];
  expect(question).toMatchObject({ message: "teach" });
});

test.each<[Partial<HostPrompt>, string]>([
  [{ title: "Title", description: "Words" }, "Title (evil)"],
  [{ description: "Words" }, "Words (evil)"],
  [{}, "a prompt (evil)"],
])("a prompt with %j has the summary %s, and no usage without arguments", (more, summary) => {
  const [command] = promptCommands([{ ...prompt("talk"), ...more }], new Set());
  expect([command?.summary, command?.usage]).toEqual([summary, undefined]);
});

test("a name with blanks or slashes becomes one word", () => {
  const odd = { ...prompt("a b/c"), name: "a b/c" };
  expect(promptCommands([odd], new Set()).map(({ name }) => name)).toEqual(["a_b_c"]);
});

test("the arguments that are not typed yet are suggested", () => {
  const [command] = promptCommands([teach], new Set());
  const complete = (...before: readonly string[]) => command?.complete?.(before, slashScene().services);
  const [knot, audience, depth, style] = [
    { value: "knot=", about: "required, which knot", isOpen: true },
    { value: "audience=", about: "", isOpen: true },
    { value: "depth=", about: "required", isOpen: true },
    { value: "style=", about: "how", isOpen: true },
  ];
  expect(complete()).toEqual([knot, audience, depth, style]);
  expect(complete("knot=x", "style=y", "depth")).toEqual([audience, depth]);
});

test("prompts are found by server and name, and keep their name if no command has them", () => {
  const commands = [
    { name: "one", summary: "", prompt: { ...teach, server: "other" }, run() {} },
    { name: "two", summary: "", prompt: { ...teach, serverPromptName: "other" }, run() {} },
    { name: "three", summary: "", run() {} },
    { name: "four", summary: "", prompt: teach, run() {} },
    { name: "five", summary: "", prompt: teach, run() {} },
  ];
  expect(asTyped([teach], commands)).toEqual([{ ...teach, name: "four" }]);
  expect(asTyped([teach], commands.slice(0, 3))).toEqual([teach]);
});

test("a value may contain an equals sign, and words without one are not passed on", () => {
  const of = { kind: "prompt", server: "knots", prompt: "teach" };
  expect(valueQuestion(teach, ["knot=a=b", "word"], "style=x=y")).toEqual({
    of,
    name: "style",
    value: "x=y",
    given: { knot: "a=b" },
  });
  expect(valueQuestion(teach, ["word"], "style=")).toEqual({ of, name: "style", value: "" });
});
