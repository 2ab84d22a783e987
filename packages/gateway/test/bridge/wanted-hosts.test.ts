/** Hosts that a sandboxed server wants, as questions to the gateway's clients and in the inbox. */

import { hasBubblewrap, programServer, until } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type GatewayScene, gatewayScene } from "../support/gateway-scene.ts";
import { type OfficialClient, officialClient } from "../support/official-client.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const args = { code: 'return (await fetch("https://api.wanted.invalid/")).text()' };
const refused = "does not allow api.wanted.invalid:443";
/** The proxy has looked the name up. No name exists where the tests run. */
const passed = "getaddrinfo";

function boxedScene(clock = steppedClock()): Promise<GatewayScene> {
  return gatewayScene({
    clock,
    servers: { s: programServer("evaluator") },
    fairlead: { servers: { s: { sandbox: "on" } } },
  });
}

async function reach({ client }: OfficialClient): Promise<string> {
  const [tool] = (await client.listTools()).tools;
  if (tool === undefined) throw new Error("no tool");
  return JSON.stringify((await client.callTool({ name: tool.name, arguments: args })).content);
}

describe.runIf(hasBubblewrap("servers in their sandbox"))("a host that a sandboxed server wants", () => {
  test.each(["legacy", "modern"] as const)(
    "is a form of the client whose call runs (%s), and a yes counts until the server ends",
    async (era) => {
      await using scene = await boxedScene();
      const asked: unknown[] = [];
      await using caller = await officialClient(scene, era, { elicitation: {} }, {}, (client) =>
        client.setRequestHandler("elicitation/create", async ({ params }) => {
          const { message, requestedSchema } = params as never as Record<string, { properties?: object }>;
          asked.push([message, JSON.stringify(requestedSchema?.properties)]);
          return { action: "accept", content: { decision: "once" } };
        }),
      );
      expect(await reach(caller)).toContain(passed);
      expect(await reach(caller)).toContain(passed);
      expect(asked).toEqual([
        [
          expect.stringContaining("Fairlead asks: s wants api.wanted.invalid:443. May it connect?"),
          expect.stringContaining('"enum":["no","once"]'),
        ],
      ]);
    },
  );

  test("waits in the inbox if the client cannot ask, is refused meanwhile, and a later yes counts for the next connection", async () => {
    await using scene = await boxedScene();
    await using caller = await officialClient(scene, "legacy");
    expect(await reach(caller)).toContain(refused);
    const [entry, ...others] = await scene.inbox.list();
    expect([entry?.kind, entry?.server, entry?.name, entry?.answers, others]).toEqual([
      "host",
      "s",
      "api.wanted.invalid:443",
      ["no", "once"],
      [],
    ]);
    await scene.inbox.answer(entry?.id ?? "", "once", "the test", entry);
    await until(async () => (await reach(caller)).includes(passed));
  });

  test("a no of the client is final while the server runs", async () => {
    const clock = steppedClock();
    await using scene = await boxedScene(clock);
    let asked = 0;
    await using caller = await officialClient(scene, "legacy", { elicitation: {} }, {}, (client) =>
      client.setRequestHandler("elicitation/create", async () => {
        asked += 1;
        // A person needs time to read the form.
        clock.pass(600);
        return { action: "decline" };
      }),
    );
    expect(await reach(caller)).toContain(refused);
    expect(await reach(caller)).toContain(refused);
    expect([asked, await scene.inbox.list()]).toEqual([1, []]);
  });
});
