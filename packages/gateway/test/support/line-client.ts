/** A client of either era that writes its messages into a gateway's channel, as a program on stdio does. */

import { PassThrough } from "node:stream";
import { type Era, type JsonObject, WireError } from "@fairlead/wire";
import { openClientStdio } from "@fairlead/wire/serve";
import type { GatewayClient } from "../../src/gateway-client.ts";
import { envelope } from "../conformance/raw-client.ts";
import type { GatewayScene } from "./gateway-scene.ts";

export interface LineClient extends AsyncDisposable {
  /** Rejects with a `WireError` if the gateway answers with an error. */
  request(method: string, params?: object): Promise<JsonObject>;
}

export async function lineClient(
  { gateway, workspace }: Pick<GatewayScene, "gateway" | "workspace">,
  era: Era,
  served: Partial<GatewayClient> = {},
): Promise<LineClient> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const client = { name: "lines", conversation: "lines", ...served };
  const ended = gateway.serve(openClientStdio({ input, output }), client, workspace);
  const waiting = new Map<number, (answer: JsonObject) => void>();
  let rest = "";
  let count = 0;
  output.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as JsonObject;
      waiting.get(Number(message["id"]))?.(message);
      waiting.delete(Number(message["id"]));
    }
  });

  async function request(method: string, params: object = {}): Promise<JsonObject> {
    count += 1;
    const id = count;
    const sent = era === "modern" ? { _meta: envelope(), ...params } : params;
    const answered = new Promise<JsonObject>((resolve) => waiting.set(id, resolve));
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params: sent })}\n`);
    const { result, error } = await answered;
    if (error === undefined) return result as JsonObject;
    const { code, message, data } = error as { code: number; message: string; data?: unknown };
    throw new WireError("rpc", message, { rpc: { code, data } });
  }

  if (era === "legacy") {
    const clientInfo = { name: "lines", version: "0.0.0" };
    await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    input.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  }
  return {
    request,
    async [Symbol.asyncDispose]() {
      input.end();
      await ended;
    },
  };
}
