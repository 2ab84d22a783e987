import { refusingProxy } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type Ending, machine, userFile } from "./support/machine.ts";
import { runProcess } from "./support/process.ts";

/** What `mcp list` tells about a server that lies behind this proxy, as far as the environment says. */
async function listedThrough(proxy: string): Promise<unknown> {
  await using here = await machine({ [userFile]: { mcpServers: { away: { url: "https://mcp.example/" } } } });
  const { stdout }: Ending = await runProcess(
    { ...here, env: { ...here.env, HTTPS_PROXY: proxy } },
    "mcp",
    "list",
    "--json",
  );
  const { servers } = JSON.parse(stdout) as { servers: readonly { error: unknown }[] };
  return servers[0]?.error;
}

const next = "Check HTTPS_PROXY and HTTP_PROXY, or add the host to NO_PROXY.";

test("a proxy that refuses is told apart from the server behind it", async () => {
  await using proxy = await refusingProxy(407);
  expect(await listedThrough(proxy.origin)).toEqual({
    code: "proxy",
    message: '"away" cannot be reached: the proxy answered with HTTP status 407',
    next,
  });
  expect(proxy.asked).toEqual(["mcp.example:443"]);
});

test("a proxy without a scheme is reached by HTTP, also for an https server", async () => {
  await using proxy = await refusingProxy(407);
  expect(await listedThrough(proxy.origin.replace("http://", ""))).toMatchObject({
    message: '"away" cannot be reached: the proxy answered with HTTP status 407',
  });
  expect(proxy.asked).toEqual(["mcp.example:443"]);
});

test("so is a proxy that is not there", async () => {
  expect(await listedThrough("http://127.0.0.1:9")).toEqual({
    code: "proxy",
    message: '"away" cannot be reached: the proxy cannot be reached: ECONNREFUSED',
    next,
  });
});
