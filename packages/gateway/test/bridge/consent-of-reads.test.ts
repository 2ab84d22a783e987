import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { createApprovalStore } from "../../src/questions/approval-store.ts";
import { allowAll, gatewayScene } from "../support/gateway-scene.ts";

const askAll = allowAll.replaceAll('"allow"', '"ask_user"');
const raw = { input: "caller" } as const;

test.for(["legacy", "modern"] as const)(
  "a read and a prompt of a %s client without a yes fail with the command",
  async (era) => {
    await using here = await gatewayScene({ servers: { fx: stdioServer("conformance") }, rules: askAll });
    const client = await here.client({ era, only: "fx" });
    const requests = [
      ["resources/read", { uri: "test://static-text" }],
      ["prompts/get", { name: "test_simple_prompt" }],
    ] as const;
    for (const [method, params] of requests) {
      const error = await client.request(method, params).catch((reason: unknown) => reason);
      const [entry] = await here.inbox.list();
      expect(error).toMatchObject({
        message: expect.stringContaining(`fairlead approvals allow ${entry?.id}, then send the request again`),
        evidence: {
          rpc: {
            code: -32010,
            data: { reason: "needs_approval", id: entry?.id, command: `fairlead approvals allow ${entry?.id}` },
          },
        },
      });
      await here.inbox.answer(entry?.id ?? "", "once", "fairlead approvals");
      expect(await client.request(method, params)).toEqual(expect.any(Object));
    }
  },
);

test("a yes stays with the request while a modern client answers the server's own question, also after a restart", async () => {
  const options = { servers: { fx: stdioServer("conformance", "--modern-only") }, rules: askAll };
  const capabilities = { elicitation: { form: {} } };
  const params = { name: "test_elicitation", arguments: { message: "Who?" } };
  await using first = await gatewayScene(options);
  const one = await first.client({ era: "modern", only: "fx", capabilities });
  const consent = await one.request("tools/call", params, raw);
  expect(JSON.stringify(consent)).toContain("Fairlead asks: may tester run fx.test_elicitation?");
  const yes = { question_1: { action: "accept", content: { decision: "once" } } };
  const question = await one.request(
    "tools/call",
    { ...params, inputResponses: yes, requestState: consent["requestState"] },
    raw,
  );
  expect(question).toMatchObject({ resultType: "input_required", inputRequests: { answer: expect.anything() } });
  await one.close();
  await first.gateway[Symbol.asyncDispose]();

  await using second = await gatewayScene({ ...options, home: first.home, work: first.workspace.cwd });
  const two = await second.client({ era: "modern", only: "fx", capabilities });
  const inputResponses = { answer: { action: "accept", content: { username: "ada", email: "a@b.c" } } };
  const answered = { ...params, inputResponses, requestState: question["requestState"] };
  const changed: JsonObject = { ...answered, arguments: { message: "Else?" } };
  const expired = { evidence: { rpc: { code: -32602, data: { reason: "invalid_request_state" } } } };
  expect(JSON.stringify(await two.request("tools/call", answered, raw))).toContain("accept");
  // A yes is for one request, once.
  await expect(two.request("tools/call", answered, raw)).rejects.toMatchObject(expired);
  await expect(two.request("tools/call", changed, raw)).rejects.toMatchObject(expired);
});

test("a stored approval is bound to its request, its tool and the server's state, holds for ten minutes and once", async () => {
  await using here = await gatewayScene({ servers: {} });
  let now = 1000;
  const approvals = createApprovalStore(join(here.state, "seals"), () => now);
  const yes = { subject: "files.write", state: "state" };
  const requestState = await approvals.store("request", yes);
  expect(await approvals.take(requestState, "another request")).toBeUndefined();
  expect(await approvals.take(requestState, "request")).toBeUndefined();
  for (const forged of [3, 4]) {
    const parts = (await approvals.store("request", yes)).split(".");
    expect(await approvals.take(parts.with(forged, `${parts[forged]}AA`).join("."), "request")).toBeUndefined();
  }
  expect(await approvals.take("fairlead-yes...", "request")).toBeUndefined();
  const good = await approvals.store("request", { ...yes, state: undefined });
  expect(await approvals.take(good, "request")).toEqual({ ...yes, state: undefined });
  const late = await approvals.store("request", yes);
  now += 600_001;
  expect(await approvals.take(late, "request")).toBeUndefined();
});
