import { describe, expect, test } from "vitest";
import { createDemoSession } from "../../src/demo/session.ts";

const request = (method: string, params = {}) => createDemoSession().request(method, params);

test("the prompt is listed with its arguments", async () => {
  expect(await request("prompts/list")).toEqual({
    prompts: [
      {
        name: "teach",
        title: "Teach a knot",
        description: "Ask for a lesson on a knot.",
        arguments: [
          { name: "knot", description: "which knot", required: true },
          { name: "audience", description: "whom the lesson is for", required: false },
        ],
      },
    ],
  });
});

test.each([
  [
    { knot: "sheet-bend", audience: "child" },
    "Teach a child to tie the sheet-bend, step by step. Keep in mind what it is for: Joins two lines, also when one is thicker than the other.",
  ],
  [{ knot: "granny" }, "Teach a beginner to tie the granny, step by step."],
])("the prompt becomes a message: %j", async (args, text) => {
  expect(await request("prompts/get", { name: "teach", arguments: args })).toEqual({
    description: `A lesson on the ${args.knot}`,
    messages: [{ role: "user", content: { type: "text", text } }],
  });
});

test("resources and the template are listed", async () => {
  expect(await request("resources/list")).toEqual({
    resources: [
      {
        uri: "demo://about",
        name: "about",
        title: "About this server",
        description: "What a fairlead is.",
        mimeType: "text/plain",
      },
      {
        uri: "demo://picture",
        name: "picture",
        title: "A picture of waves",
        description: "A small PNG.",
        mimeType: "image/png",
      },
    ],
  });
  expect(await request("resources/templates/list")).toEqual({
    resourceTemplates: [
      {
        uriTemplate: "demo://knots/{name}",
        name: "knot",
        title: "A knot",
        description: "What a knot is good for: bowline, clove-hitch, cleat-hitch, figure-eight, reef-knot, sheet-bend.",
        mimeType: "text/plain",
      },
    ],
  });
});

test.each([
  ["demo://about", "text/plain", { text: expect.stringContaining("fitting on a ship's rail") as string }],
  ["demo://picture", "image/png", { blob: expect.stringMatching(/^iVBORw0KGgo/) as string }],
  [
    "demo://knots/bowline",
    "text/plain",
    { text: "A fixed loop that does not slip and is easy to untie after a load." },
  ],
])("%s can be read", async (uri, mimeType, content) => {
  expect(await request("resources/read", { uri })).toEqual({ contents: [{ uri, mimeType, ...content }] });
});

describe("completion offers what begins with what was typed", () => {
  const prompt = { type: "ref/prompt", name: "teach" };
  const template = { type: "ref/resource", uri: "demo://knots/{name}" };
  test.each([
    [prompt, { name: "knot", value: "cl" }, ["clove-hitch", "cleat-hitch"]],
    [prompt, { name: "audience", value: "" }, ["beginner", "child", "sailor"]],
    [template, { name: "name", value: "bow" }, ["bowline"]],
    [template, { name: "name", value: "x" }, []],
  ])("%j %j", async (ref, argument, values) => {
    expect(await request("completion/complete", { ref, argument })).toEqual({
      completion: { values, total: values.length, hasMore: false },
    });
  });
});
