import { expect, test } from "vitest";
import { form, writeCall } from "../../../src/tui/slash/form.ts";
import { conversationTool, slashScene } from "../../support/tui/slash-services.ts";

const schema = { type: "object", properties: { path: { type: "string" }, count: { type: "integer" } } };
const catalog = (server: string) =>
  server === "files"
    ? {
        tools: [
          { name: "write", inputSchema: {} },
          { name: "read", description: "Reads.", inputSchema: schema },
        ],
      }
    : undefined;
const tools = [conversationTool("files", "read"), conversationTool("files", "gone"), conversationTool("docs", "find")];
const scene = (answer?: unknown) =>
  slashScene({ host: { catalog }, conversation: { tools: () => tools }, answers: [answer] });

const asked = (values: object): readonly unknown[] => [
  "ask",
  "form",
  { kind: "form", serverName: "files", toolName: "read", message: "Reads.", schema, purpose: "arguments", values },
];

test.each([
  ["files.read", {}, {}, "files.read"],
  ["files.read", {}, { path: "a.txt", count: 2 }, "files.read path=a.txt count:=2"],
  ["files_read count=3", { count: 3 }, { path: "a b" }, `files.read count:=3 'path:="a b"'`],
  ["files.read path=a count=3", { path: "a", count: 3 }, { path: "b", count: 3 }, "files.read path=b count:=3"],
])("/form %s shows the values %j and calls the tool with the answer %j", async (words, values, content, call) => {
  expect(await scene({ action: "accept", content }).run(form, words)).toEqual([asked(values), ["send call", call]]);
});

test.each(["decline", "cancel"])("a form that the user answers with %s calls nothing", async (action) => {
  expect(await scene({ action }).run(form, "files_read path=a")).toEqual([
    asked({ path: "a" }),
    ["note", "info", "files_read was not called."],
  ]);
});

test("a form without a description has an empty message", async () => {
  const app = slashScene({
    host: { catalog: () => ({ tools: [{ name: "read", inputSchema: schema }] }) },
    conversation: { tools: () => tools },
    answers: [{ action: "accept" }],
  });
  const [[, , question] = []] = (await app.run(form, "files.read path=a")) as readonly (readonly unknown[])[];
  expect(question).toMatchObject({ message: "", values: { path: "a" } });
});

test.each([
  ["files.gone", "tool_unknown", '"files" has no tool "gone"', "/tools"],
  ["docs.find", "tool_unknown", '"docs" has no tool "find"', "/tools"],
  ["", "usage", '"" is not of the form server.tool', "fairlead tools"],
])("/form %s is refused", async (words, code, text, next) => {
  expect(await scene().run(form, words)).toEqual([["throw", code, text, next]]);
});

test("/form suggests the tools of the conversation as its first argument", () => {
  const { services } = scene();
  expect(form.complete?.([], services).map(({ value }) => value)).toEqual(["files.read", "files.gone", "docs.find"]);
  expect(form.complete?.(["files.read"], services)).toEqual([]);
});

test.each([
  [{ a: "" }, `s.t 'a:=""'`],
  [{ a: "1" }, "s.t a=1"],
  [{ a: 1 }, "s.t a:=1"],
  [{ a: true, b: null }, "s.t a:=true b:=null"],
  [{ "a b": "c" }, "s.t 'a b=c'"],
  [{ a: "\\" }, `s.t 'a:="\\\\\\\\"'`],
  [{ a: ["x"] }, `s.t 'a:=["x"]'`],
])("the user would type %j like this: %s", (args, line) => {
  expect(writeCall({ server: "s", tool: "t" }, args)).toBe(line);
});

test("letters of every language need no quotes", () => {
  expect(writeCall({ server: "demo", tool: "greet" }, { name: "Zoé", title: "博士" })).toBe(
    "demo.greet name=Zoé title=博士",
  );
});

test("the name of a tool with a space is quoted", () => {
  expect(writeCall({ server: "s", tool: "it's a" }, {})).toBe("'s.it\\'s a'");
});

test.each(["", "a=b", "=", "a:"])("the argument name %j cannot be typed", (name) => {
  expect(() => writeCall({ server: "s", tool: "t" }, { [name]: "x" })).toThrow(
    `the argument name "${name}" cannot be written as name=value`,
  );
});
