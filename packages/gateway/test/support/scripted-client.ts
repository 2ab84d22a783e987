/** A client that writes its messages by itself, over a gateway's channel, as the measured programs do. */

import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import type { JsonObject } from "@fairlead/wire";
import { objectOf } from "@fairlead/wire/json";
import { openClientStdio } from "@fairlead/wire/serve";
import { envelope } from "../conformance/raw-client.ts";
import type { GatewayScene } from "./gateway-scene.ts";

export interface ClientScript {
  /** The program's name, as in its settings entry. */
  readonly name: string;
  /** The protocol version that the program speaks. */
  readonly version: string;
  readonly capabilities: JsonObject;
  /** Answers an elicitation: with a response, or in the modern era through `inputResponses`. */
  readonly elicited: (params: JsonObject) => Promise<JsonObject> | JsonObject;
}

export interface ScriptedClient extends AsyncDisposable {
  /** Calls a tool, answers the elicitations that come meanwhile, and returns the call's result. */
  call(tool: string, args: JsonObject): Promise<JsonObject>;
  /** Parameters of the elicitations that came. */
  readonly asked: readonly JsonObject[];
}

/** Connects the client. It is greeted already. */
export async function scriptedClient(
  { gateway, workspace }: Pick<GatewayScene, "gateway" | "workspace">,
  { name, version, capabilities, elicited }: ClientScript,
): Promise<ScriptedClient> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = gateway.serve(openClientStdio({ input, output }), { name, conversation: name }, workspace);
  const isModern = version >= "2026";
  const waiting = new Map<unknown, (message: JsonObject) => void>();
  const asked: JsonObject[] = [];
  let requests = 0;

  const write = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

  function request(method: string, params: JsonObject): Promise<JsonObject> {
    requests += 1;
    const id = requests;
    write({ id, method, params: isModern ? { ...params, _meta: envelope(capabilities) } : params });
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(objectOf(result)) : reject(new Error(JSON.stringify(error))),
      );
    });
  }

  async function answer(params: JsonObject): Promise<JsonObject> {
    asked.push(params);
    return elicited(params);
  }

  createInterface({ input: output }).on("line", (line) => {
    const message = JSON.parse(line) as JsonObject;
    const { id, method, params } = message;
    if (method === undefined) waiting.get(id)?.(message);
    else if (method === "elicitation/create")
      void answer(objectOf(params)).then(
        (result) => write({ id, result }),
        (error: unknown) => write({ id, error: { code: -32603, message: String(error) } }),
      );
  });

  if (!isModern) {
    const greeting = await request("initialize", {
      protocolVersion: version,
      capabilities,
      clientInfo: { name, version: "1" },
    });
    if (greeting["protocolVersion"] !== version) throw new Error(`the gateway does not speak ${version}`);
    write({ method: "notifications/initialized" });
  }

  return {
    asked,
    async call(tool, args) {
      const params = { name: tool, arguments: args };
      let result = await request("tools/call", params);
      while (result["resultType"] === "input_required") {
        const inputResponses: Record<string, JsonObject> = {};
        for (const [key, question] of Object.entries(objectOf(result["inputRequests"])))
          inputResponses[key] = await answer(objectOf(objectOf(question)["params"]));
        result = await request("tools/call", { ...params, inputResponses, requestState: result["requestState"] });
      }
      return result;
    },
    async [Symbol.asyncDispose]() {
      input.end();
      await ended;
    },
  };
}
