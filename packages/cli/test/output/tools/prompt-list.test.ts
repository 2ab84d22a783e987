import type { HostPrompt, HostResource, HostTool } from "@fairlead/core/host";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { describe, expect, test } from "vitest";
import {
  examplePrompt,
  promptCommandUsage,
  promptsText,
  resourcesText,
  serverNamesText,
  sharedUris,
  textByServer,
  toolText,
} from "../../../src/output/tools/lists.ts";
import { marked, plain } from "../../support/plain-style.ts";

const unbroken = { style: plain, columns: Number.POSITIVE_INFINITY };
const prompt = (given: Partial<HostPrompt> = {}): HostPrompt => ({
  server: "s",
  name: "p",
  serverPromptName: "p",
  arguments: [],
  ...given,
});
const tool = (given: Partial<HostTool> = {}): HostTool => ({
  name: "t",
  server: "s",
  serverToolName: "t",
  description: "",
  inputSchema: {},
  parametersJsonSchema: {},
  repairs: [],
  decision: "ask_user",
  ...given,
});

test("each server has its own text, with an empty line between them", () => {
  const items = [{ server: "a" }, { server: "b" }, { server: "a" }];
  const toText = (server: string, own: readonly object[]) => toSafeLine(`${server}${own.length}`);
  expect(textByServer(items, toText)).toBe("a2\n\nb1");
  expect(textByServer([], toText)).toBeUndefined();
});

describe("names of tools", () => {
  const tools = ["one", "two\u202e", "three"].map((serverToolName) => tool({ serverToolName }));

  test("elsewhere are a line each, as they are called", () => {
    const [first, second, third] = serverNamesText("s", tools, unbroken, [{ setting: "excludeTools" }]).split("\n");
    expect([first, third]).toEqual(["s.one", "s.three"]);
    expect(second).toMatch(/^s\.two.+/);
  });

  test("on a terminal are filled into lines below the title", () => {
    const many = Array.from({ length: 8 }, (_, at) => tool({ serverToolName: `tool${at}` }));
    expect(serverNamesText("s", many, { style: plain, columns: 40 }, [{ setting: "includeTools" }])).toBe(
      [
        "s: 8 tools (1 more hidden by includeTools)",
        "  tool0, tool1, tool2, tool3, tool4,",
        "  tool5, tool6, tool7",
      ].join("\n"),
    );
    expect(serverNamesText("s", tools.slice(0, 1), { style: marked, columns: 40 })).toBe(
      "<bold>s</>: 1 tool\n  <cyan>one</>",
    );
  });
});

describe("a tool", () => {
  test.each([
    ["allow", "  <cyan>t</>() <green>[allowed]</>"],
    ["deny", "  <cyan>t</>() <red>[denied]</>"],
    ["ask_user", "  <cyan>t</>()"],
  ] as const)("with the decision %s", (decision, text) => {
    expect(toolText(tool({ decision }), { ...unbroken, style: marked, all: false })).toBe(text);
  });

  test("has the remarks of its parameters, cut, only if everything is shown", () => {
    const inputSchema = { properties: { a: { type: "string", description: "x".repeat(2001) }, b: { description: 7 } } };
    const described = tool({ inputSchema, description: "D." });
    expect(toolText(described, { ...unbroken, all: true })).toBe(
      `  t(a?: string, b?: unknown)\n      D.\n      a: ${"x".repeat(1999)}…`,
    );
    expect(toolText(described, { ...unbroken, all: false })).toBe("  t(a?: string, b?: unknown)\n      D.");
  });

  test("has at most 20 000 characters of its description", () => {
    const text = (length: number) => toolText(tool({ description: "x".repeat(length) }), { ...unbroken, all: true });
    expect(text(20_000)).toBe(`  t()\n      ${"x".repeat(20_000)}`);
    expect(text(20_001)).toBe(`  t()\n      ${"x".repeat(19_999)}…`);
  });

  test("has its first paragraph in full up to 400 characters", () => {
    const text = (description: string) => toolText(tool({ description }), { ...unbroken, all: false });
    expect(text("x".repeat(400))).toBe(`  t()\n      ${"x".repeat(400)}`);
    expect(text(`${"x".repeat(398)} yy`)).toBe(`  t()\n      ${"x".repeat(398)} …`);
  });
});

describe("prompts", () => {
  test("have their arguments, the required ones first, and what is said about each", () => {
    const prompts = [
      prompt({
        description: "Asks.\n\nMore.",
        title: "T",
        arguments: [
          { name: "a", required: false, description: "first\n one" },
          { name: "b c", required: true, description: " " },
        ],
      }),
      prompt({ name: "q", serverPromptName: "q", title: "T" }),
      prompt({ name: "r", serverPromptName: "r" }),
    ];
    expect(promptsText("s", prompts, unbroken)).toBe(
      [
        "s: 3 prompts",
        "",
        '  /p("b c", a?)',
        "      Asks. …",
        "      a: first one",
        "",
        "  /q()",
        "      T",
        "",
        "  /r()",
      ].join("\n"),
    );
    expect(promptsText("s", prompts.slice(1, 2), { ...unbroken, style: marked })).toBe(
      "<bold>s</>: 1 prompt\n\n  <cyan>/q</>()\n<dim>      T</>",
    );
  });

  test("of many arguments name forty, and say how many more there are", () => {
    const named = (count: number) =>
      prompt({
        arguments: Array.from({ length: count }, (_, at) => ({ name: `a${at}`, required: true, description: "d" })),
      });
    const lines = promptsText("s", [named(42)], unbroken).split("\n");
    expect(lines[2]).toMatch(/a39, …\+2\)$/);
    expect(lines.slice(3)).toHaveLength(40);
    expect(promptsText("s", [named(41)], unbroken).split("\n")[2]).toMatch(/a39, a40\)$/);
  });

  test("on a terminal are no wider than it is", () => {
    const names = ["alpha", "beta", "gamma", "delta", "epsilons"].map((name) => ({ name, required: true }));
    expect(promptsText("s", [prompt({ arguments: names })], { style: plain, columns: 40 })).toBe(
      "s: 1 prompt\n\n  /p(alpha, beta, gamma, delta,\n    epsilons)",
    );
  });

  test("are typed with their required arguments; the usage has the optional ones in brackets", () => {
    const asked = prompt({
      name: "ask me",
      serverPromptName: "ask me",
      arguments: [
        { name: "a", required: false },
        { name: "b c", required: true },
        { name: "d", required: true },
      ],
    });
    expect(promptCommandUsage(asked)).toBe("'ask me' 'b c='… d=… [a=…]");
    expect(examplePrompt(asked)).toBe("'ask me' 'b c=text' d=text");
    const { server: _server, ...registered } = asked;
    expect(examplePrompt({ ...registered, serverName: "s", arguments: [] })).toBe("'ask me'");
  });
});

describe("resources", () => {
  const resource = (uri: string, given: Partial<HostResource> = {}): HostResource =>
    ({ server: "s", name: "n", kind: "resource", uri, ...given }) as HostResource;
  const template = (uriTemplate: string, given: Partial<HostResource> = {}): HostResource =>
    ({ server: "s", name: "n", kind: "template", uriTemplate, ...given }) as HostResource;

  test("have their title, type and size, and a template its variables", () => {
    const list = [
      resource("x://a", { title: "A", mimeType: "text/plain", size: 1500, description: "D." }),
      resource("x://b", { name: "", size: 0 }),
      resource("x://c", { name: "" }),
      template("x://{a}{?b}", { mimeType: "text/plain" }),
      template("x://{", { unusable: "why\u202e" }),
    ];
    const text = resourcesText("s", list, unbroken).split("\n");
    expect(text.slice(0, 10)).toEqual([
      "s: 3 resources, 2 templates",
      "",
      "  x://a (A, text/plain, 1.5 kB)",
      "      D.",
      "",
      "  x://b (0 B)",
      "",
      "  x://c",
      "",
      "  x://{a}{?b} --arg a=… [--arg b=…] (n, text/plain)",
    ]);
    expect(text[11]).toMatch(/^ {2}x:\/\/\{ \(n\) \[unusable: why.+\]$/);
  });

  test("are counted by their kind", () => {
    const title = (...list: readonly HostResource[]) =>
      resourcesText("s", list, { ...unbroken, style: marked }).split("\n")[0];
    expect(title()).toBe("<bold>s</>: 0 resources");
    expect(title(resource("x://a"))).toBe("<bold>s</>: 1 resource");
    expect(title(template("x://{a}"))).toBe("<bold>s</>: 1 template");
  });

  test("have colours, and lines that fit", () => {
    expect(resourcesText("s", [resource("x://a", { description: "D." })], { ...unbroken, style: marked })).toBe(
      "<bold>s</>: 1 resource\n\n  <cyan>x://a</> (n)\n<dim>      D.</>",
    );
    const [, , ...lines] = resourcesText("s", [template("x://{a}{?b,c}")], { style: plain, columns: 40 }).split("\n");
    expect(lines).toEqual(["  x://{a}{?b,c} --arg a=… [--arg b=…]", "    [--arg c=…] (n)"]);
  });

  test("long texts are cut", () => {
    const text = (uri: string, title: string) =>
      resourcesText("s", [resource(uri, { title })], unbroken).split("\n")[2];
    expect(text("u".repeat(2000), "t".repeat(200))).toBe(`  ${"u".repeat(2000)} (${"t".repeat(200)})`);
    expect(text("u".repeat(2001), "t".repeat(201))).toBe(`  ${"u".repeat(1999)}… (${"t".repeat(199)}…)`);
    const variables = Array.from({ length: 22 }, (_, at) => `{v${at}}`).join("");
    expect(resourcesText("s", [template(variables)], unbroken)).toMatch(/--arg v19=… …\+2 \(n\)$/);
  });

  test("that several servers have are named with their server", () => {
    const list = [
      resource("x://a"),
      resource("x://a", { server: "other" }),
      resource("x://b"),
      resource("x://b"),
      template("x://{c}"),
      template("x://{c}", { server: "other" }),
    ];
    const isShared = sharedUris(list);
    expect(["x://a", "x://b", "x://{c}", "x://d"].map(isShared)).toEqual([true, false, true, false]);
    expect(resourcesText("s", [list[0] ?? resource("")], { ...unbroken, isShared })).toBe(
      safe`s: 1 resource\n\n  s:x://a (n)`,
    );
  });
});
