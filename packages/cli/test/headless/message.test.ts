import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { describe, expect, test } from "vitest";
import { composeMessage } from "../../src/headless/message.ts";
import { writtenOutput } from "../support/written-output.ts";

const prompt = (serverName: string, name: string) => ({
  serverName,
  name,
  serverPromptName: `own-${name}`,
  arguments: [{ name: "topic", required: true }],
});
const prompts = [prompt("a", "review"), prompt("b", "hidden")];

/** A host with two prompts in its cached catalogs. It writes down what it is asked. */
function hostOf(asked: unknown[], cached: readonly string[]): Host {
  const text = (words: string) => ({ type: "text", text: words });
  return {
    states: () => ["a", "b"].map((name) => ({ name, status: "connected" })),
    recall: () => Promise.resolve(cached.map((server) => ({ server }))),
    failedStarts: () => Promise.resolve([]),
    on: () => () => {},
    start: ({ servers }: { readonly servers: readonly string[] }) => {
      asked.push(["start", ...servers]);
      return Promise.resolve();
    },
    promptRegistry: {
      getAllPrompts: () => prompts,
      getPrompt: (wanted: string) => prompts.find(({ name }) => name === wanted),
    },
    getPrompt: (server: string, name: string, args: object, { wait }: { readonly wait?: number }) => {
      asked.push([server, name, args, wait]);
      const messages = [
        { role: "user", content: text("first") },
        { role: "assistant", content: text("second") },
        { role: "user", content: text("last") },
      ];
      return Promise.resolve({ messages, notes: [] });
    },
    expandReferences: (
      typed: string,
      { servers, wait }: { readonly servers?: readonly string[]; readonly wait?: number },
    ) => {
      asked.push([typed, servers, wait]);
      const problems = typed.includes("@") ? [{ text: "@gone", error: new HostError("not_found", "no file") }] : [];
      return Promise.resolve({ parts: [{ text: `expanded ${typed}` }], problems });
    },
  } as unknown as Host;
}

async function composed(
  typed: string,
  {
    piped,
    cached = ["a", "b"],
    ...options
  }: { piped?: string; cached?: readonly string[]; servers?: readonly string[]; wait?: number } = {},
) {
  const asked: unknown[] = [];
  const given = { typed, servers: options.servers, wait: options.wait };
  const message = await composeMessage(given, piped, hostOf(asked, cached), writtenOutput().context).catch(
    (error: unknown) => error as HostError,
  );
  return { message, asked };
}

describe("the message to the model", () => {
  test("is the piped input as it is, if the user typed nothing", async () => {
    for (const typed of ["", " \n"]) {
      const { message, asked } = await composed(typed, { piped: "@a /review" });
      expect(message).toEqual({ history: [], parts: [{ text: "@a /review" }], notes: [] });
      expect(asked).toEqual([]);
    }
    expect((await composed("")).message).toEqual({ history: [], parts: [{ text: "" }], notes: [] });
  });

  test("is the typed text with its references, and the problems of these", async () => {
    expect(await composed("hi @gone", { servers: ["a"], wait: 5 })).toEqual({
      message: { history: [], parts: [{ text: "expanded hi @gone" }], notes: ["@gone: no file"] },
      asked: [["hi @gone", ["a"], 5]],
    });
    expect((await composed("hi")).asked).toEqual([["hi", undefined, 10_000]]);
  });

  test("has the piped input behind the typed text, marked as untrusted", async () => {
    const { message } = await composed("hi", { piped: "data" });
    expect(message).toMatchObject({
      parts: [
        { text: "expanded hi" },
        { text: expect.stringMatching(/^\[Up to <\/untrusted_context_\w+> this is piped input; /) },
        { text: "data" },
        { text: expect.stringMatching(/^<\/untrusted_context_\w+>$/) },
      ],
    });
  });

  test("is a server's prompt, with the earlier messages as history", async () => {
    const { message, asked } = await composed(" /review peace", { piped: "data" });
    expect(asked).toEqual([["a", "own-review", { topic: "peace" }, 10_000]]);
    expect(message).toMatchObject({
      history: [{ role: "user" }, { role: "model" }],
      notes: [],
    });
    const text = JSON.stringify(message);
    expect(text.indexOf("last")).toBeGreaterThan(text.indexOf("second"));
    expect(text.indexOf("data")).toBeGreaterThan(text.indexOf("last"));
  });

  test.each(["/etc/hosts: what is this?", "/ review", "what is /review?"])("%j names no prompt", async (typed) => {
    expect((await composed(typed)).asked).toEqual([[typed, undefined, 10_000]]);
  });

  test("names only prompts of the chosen servers", async () => {
    expect((await composed("/hidden x", { servers: ["b"] })).asked).toEqual([
      ["b", "own-hidden", { topic: "x" }, 10_000],
    ]);
    const { message } = await composed("/hidden x", { servers: ["a"] });
    expect(message).toMatchObject({ code: "usage", message: expect.stringContaining("hidden") });
  });

  test("is an error if the prompt's arguments are wrong, and Fairlead connects to no server", async () => {
    const { message, asked } = await composed("/review", { cached: [] });
    expect(message).toMatchObject({ code: "arguments_invalid", message: expect.stringContaining("topic is missing") });
    expect(asked).toEqual([]);
  });

  test("is an error if no server has the prompt, once Fairlead has connected to the servers that may have it", async () => {
    const { message, asked } = await composed("/unknown x", { cached: ["b"] });
    expect(message).toMatchObject({ code: "usage", message: expect.stringContaining("unknown") });
    expect(asked).toEqual([["start", "a"]]);
    expect((await composed("/unknown x", { cached: [], servers: ["b"] })).asked).toEqual([["start", "b"]]);
    expect((await composed("/a.unknown x", { cached: [] })).asked).toEqual([
      ["start", "a"],
      ["start", "a"],
    ]);
  });
});
