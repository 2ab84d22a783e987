import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { callTool } from "../../src/execute/call-tool.ts";
import { answering } from "../answering.ts";

const call = (answer: JsonObject) =>
  callTool({ session: answering({ "tools/call": answer }), server: "s", tool: "t", args: {} }, {});

describe("an answer keeps what it says", () => {
  test.each<[JsonObject, object]>([
    [{ content: [{ type: "hologram" }] }, { content: [{ type: "hologram" }], isError: false }],
    [
      { content: [], isError: true },
      { content: [], isError: true },
    ],
    // Structured content may be any JSON value.
    [{ structuredContent: [1] }, { content: [], structuredContent: [1], isError: false }],
    [{ structuredContent: null }, { content: [], structuredContent: null, isError: false }],
    [{}, { content: [], isError: false }],
  ])("%j", async (answer, result) => {
    expect(await call(answer)).toEqual(result);
  });
});

test.each<JsonObject>([{ content: "text" }, { content: [null] }, { content: ["text"] }])(
  "%j is no answer",
  async (answer) => {
    await expect(call(answer)).rejects.toMatchObject({
      code: "protocol",
      message: "s.t answered with something that is no list of content",
      serverName: "s",
    });
  },
);
