import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { workshop } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { allowAll, gatewayScene } from "../support/gateway-scene.ts";
import { officialClient } from "../support/official-client.ts";

/** Passes connections on to `url`, and counts them. */
async function countingProxy(url: string): Promise<AsyncDisposable & { readonly url: string; opened(): number }> {
  let opened = 0;
  const server: Server = createServer((socket) => {
    opened += 1;
    const upstream = connect(Number(new URL(url).port), "127.0.0.1");
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    url: url.replace(new URL(url).port, String(port)),
    opened: () => opened,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

test.each(["legacy", "modern"] as const)(
  "a call of a %s client that a rule denies by name opens no connection to its server",
  async (era) => {
    await using shop = await workshop("modern", "http");
    await using proxy = await countingProxy(shop.url ?? "");
    const servers = { shop: { httpUrl: proxy.url } };
    await using first = await gatewayScene({ servers });
    {
      await using window = await officialClient(first, era);
      expect((await window.client.listTools()).tools.map(({ name }) => name)).toContain("echo");
    }
    await first.gateway[Symbol.asyncDispose]();
    // A new gateway with the same home lists the tools from the cache.
    await using here = await gatewayScene({ servers, home: first.home });
    await using window = await officialClient(here, era);
    await window.client.listTools();
    await here.setRules(
      `${allowAll}\n[[rule]]\ntoolName = "echo"\nmcpName = "shop"\ndecision = "deny"\npriority = 900\n`,
    );
    const before = proxy.opened();
    const refusal = await window.client
      .callTool({ name: "echo", arguments: { text: "hi" } })
      .catch(({ message }: Error) => ({ message }));
    expect(JSON.stringify(refusal)).toMatch(/denied/);
    expect(proxy.opened()).toBe(before);
    expect(shop.notes()).toEqual([]);
  },
);
