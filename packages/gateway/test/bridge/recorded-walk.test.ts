/** A client's call through the gateway, as V8 records it: compared with ARCHITECTURE.md, and it returns to no file. */

import { drawnWalk, filesTwice, namedIn, recordStacks, stdioServer, walkOf } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { gatewayScene } from "../support/gateway-scene.ts";
import { officialClient } from "../support/official-client.ts";

const stdio = "wire/src/stdio/";

test.each(["legacy", "modern"] as const)(
  "the call of a %s client takes the walk that is drawn, and returns to no file",
  async (era) => {
    await using here = await gatewayScene({ servers: { s: stdioServer("counted") } });
    await using window = await officialClient(here, era);
    await window.client.listTools();
    const call = { name: "echo", arguments: { text: "a" } };
    await window.client.callTool(call);
    const stacks = await recordStacks(() => window.client.callTool(call));
    const sent = stacks.find(({ functions }) =>
      functions.some(({ name, file }) => name === "send" && file.startsWith(stdio)),
    );
    if (sent === undefined) throw new Error("the call did not reach the transport");
    const walk = walkOf(sent, "gateway/src/bridge/serve-connection.ts", stdio);
    expect(filesTwice(walk)).toEqual([]);
    expect(namedIn(walk)).toEqual(await drawnWalk(`tools/call of a ${era} client`));
  },
);
