import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { gatewayScene } from "../support/gateway-scene.ts";

const pairs = [
  ["legacy", "--legacy-only"],
  ["legacy", "--modern-only"],
  ["modern", "--legacy-only"],
  ["modern", "--modern-only"],
] as const;

test.for(pairs)("a %s client lists and calls tools of a server with %s", async ([era, flag]) => {
  await using here = await gatewayScene({ servers: { fx: stdioServer("conformance", flag) } });
  const client = await here.client({ era });
  const { tools } = await client.request("tools/list");
  expect(tools).toEqual(expect.arrayContaining([expect.objectContaining({ name: "test_simple_text" })]));
  expect(await client.request("tools/call", { name: "test_simple_text", arguments: {} })).toMatchObject({
    content: [{ type: "text", text: "A line of text." }],
  });
});
