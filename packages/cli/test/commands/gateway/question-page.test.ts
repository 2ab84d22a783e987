/** The page of one question, as a program opens it through `fairlead serve`: no console was ever opened. */

import { stdioServer } from "@fairlead/test-servers";
import { expect, it } from "vitest";
import { openPageAt, visitConsole } from "../../support/console-client.ts";
import { gatewayMachine, type Message } from "../../support/gateway-client.ts";

const ask = '[[rule]]\nmcpName = "counted"\ntoolName = "*"\ndecision = "ask_user"\npriority = 900\n';

it("asks on a page that the background host serves, and a yes there runs the call", async () => {
  await using here = await gatewayMachine({ counted: stdioServer("counted") });
  await here.write("home/.gemini/policies/user.toml", ask);
  const client = await here.clientWith({ elicitation: { form: {}, url: {} } }, "--client", "cursor");
  const called = client.call("echo", { text: "hello" });
  const { id, params } = (await client.told("elicitation/create")) as Message & {
    readonly id: number;
    readonly params: { readonly mode: string; readonly url: string };
  };
  expect(params).toMatchObject({ mode: "url", url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/question\//) });
  client.answer(id, { action: "accept" });
  expect((await openPageAt(params.url.replace(/#.*/, ""))).text).toContain('<script type="module"');
  const page = await visitConsole(params.url);
  const { questions } = await page.snapshot();
  expect(questions).toMatchObject([
    { server: "counted", name: "echo", from: "the program cursor", args: { text: "hello" }, request: "tool" },
  ]);
  const answer = { kind: "request", choice: "once" };
  expect(await page.run("questions/answer", { id: questions[0]?.id, answer })).toMatchObject({
    status: 200,
    body: { isFirst: true, text: "Your answer: yes, once. You can close this page." },
  });
  expect(JSON.stringify(await called)).toContain("hello");
  expect((await page.run("servers/stop", { servers: ["counted"] })).status).toBe(400);
});
