import { stdioServer } from "@fairlead/test-servers";
import type { JsonObject, Session } from "@fairlead/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GatewayScene, gatewayScene } from "../support/gateway-scene.ts";

const declared = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };
const work = { name: "work", arguments: {} };
/** The wire would follow the task itself. */
const raw = { input: "caller", tasks: "caller", capabilities: declared } as const;

let here: GatewayScene;
beforeAll(async () => {
  here = await gatewayScene({ servers: { jobs: stdioServer("tasks"), other: stdioServer("conformance") } });
});
afterAll(() => here[Symbol.asyncDispose]());

async function begin(client: Session): Promise<string> {
  const begun = await client.request("tools/call", work, raw);
  expect(begun).toMatchObject({ resultType: "task", status: "working", taskId: expect.any(String) });
  return String(begun["taskId"]);
}

test.for([undefined, "jobs"])(
  "a modern client follows the task of a modern server itself (address: %s)",
  async (only) => {
    await using here = await gatewayScene({
      servers: { jobs: stdioServer("tasks"), other: stdioServer("conformance") },
    });
    const client = await here.client({ era: "modern", capabilities: declared, ...(only !== undefined && { only }) });
    await client.request("tools/list");
    const { capabilities } = await client.request("server/discover");
    expect(capabilities).toMatchObject({ extensions: declared.extensions });
    const taskId = await begin(client);
    expect(taskId).toMatch(only === undefined ? /^am9icw[.]task[.]\d+$/ : /^task[.]\d+$/);
    const get = (id: string): Promise<JsonObject> => client.request("tasks/get", { taskId: id }, raw);
    expect(await get(taskId)).toMatchObject({
      taskId,
      status: "input_required",
      inputRequests: { who: { params: { message: only === undefined ? 'The server "jobs" asks: Who?' : "Who?" } } },
    });
    const inputResponses = { who: { action: "accept", content: { name: "Ada" } } };
    await client.request("tasks/update", { taskId, inputResponses }, raw);
    expect(await get(taskId)).toMatchObject({ status: "completed", result: { content: [{ text: "done for Ada" }] } });

    const second = await begin(client);
    await client.request("tasks/cancel", { taskId: second }, raw);
    expect(await get(second)).toMatchObject({ status: "cancelled" });
    for (const unknown of ["nothing", "bm9uZQ.task.1", ""])
      await expect(get(unknown)).rejects.toMatchObject({ evidence: { rpc: { code: -32602 } } });
    const bare = { ...raw, capabilities: {} };
    await expect(client.request("tasks/get", { taskId }, bare)).rejects.toMatchObject({
      evidence: { rpc: { code: -32021 } },
    });
  },
);

test.for(["legacy", "modern"] as const)("a %s client without tasks sees one call", async (era) => {
  const client = await here.client({
    era,
    capabilities: { elicitation: { form: {} } },
    answer: async () => ({ action: "accept", content: { name: "Ada" } }),
  });
  await client.request("tools/list");
  expect(await client.request("tools/call", work)).toMatchObject({ content: [{ text: "done for Ada" }] });
});
