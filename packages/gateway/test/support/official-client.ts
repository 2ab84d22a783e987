/** The official client over a gateway's channel, as a program that starts `fairlead serve` uses it. */

import { PassThrough } from "node:stream";
import type { Era } from "@fairlead/wire";
import { openClientStdio } from "@fairlead/wire/serve";
import { Client, type ClientCapabilities, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import type { GatewayClient } from "../../src/gateway-client.ts";
import type { GatewayScene } from "./gateway-scene.ts";

export interface OfficialClient extends AsyncDisposable {
  readonly client: Client;
}

/** Connects the client, and closes the connection at the end of the scope. */
export async function officialClient(
  { gateway, workspace }: Pick<GatewayScene, "gateway" | "workspace">,
  era: Era,
  capabilities: ClientCapabilities = {},
  served: Partial<GatewayClient> = {},
  prepare: (client: Client) => void = () => {},
): Promise<OfficialClient> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = gateway.serve(
    openClientStdio({ input, output }),
    { name: "official", conversation: "official", ...served },
    workspace,
  );
  const client = new Client(
    { name: "official", version: "0.0.0" },
    { capabilities, versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
  );
  prepare(client);
  await client.connect(transportOver(input, output));
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await ended;
    },
  };
}

function transportOver(input: PassThrough, output: PassThrough): Transport {
  let rest = "";
  const transport: Transport = {
    async start() {
      output.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        // Each in a turn of its own: the official client handles a notification later than a response after it.
        for (const line of lines) setImmediate(() => transport.onmessage?.(JSON.parse(line) as JSONRPCMessage));
      });
    },
    async send(message) {
      input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      input.end();
      transport.onclose?.();
    },
  };
  return transport;
}
