import { expect, test } from "vitest";
import { sampleTool } from "../support/sample-tools.ts";

test.each(["null", "1", '"text"', "{}", "[null]", '["text"]'])(
  "a tool built by hand that answers %s is told that this is no answer",
  async (answer) => {
    const mcpTool = { tool: async () => ({}), callTool: async () => JSON.parse(answer) };
    await expect(sampleTool("s", "read", { mcpTool }).execute({})).rejects.toMatchObject({
      name: "HostError",
      code: "protocol",
      message: "s.read did not return a list of parts",
    });
  },
);
