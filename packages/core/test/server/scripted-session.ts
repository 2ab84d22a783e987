/** A conversation that a test holds both ends of: it answers what the test wrote, and stays silent on everything else. */

import {
  type JsonObject,
  type McpRequestOptions,
  type NegotiatedProtocol,
  type Session,
  WireError,
} from "@fairlead/wire";

export interface ScriptedSession extends Session {
  /** Every request so far, by method. */
  readonly asked: readonly string[];
  /** The server is gone: whatever is open fails with it, as on a wire. */
  die(cause: WireError): void;
}

type Answer = JsonObject | WireError;

export interface Script {
  /** By method; undefined from a function is silence. */
  readonly answers?: Readonly<Record<string, Answer | ((params: JsonObject) => Answer | undefined)>>;
  readonly capabilities?: JsonObject;
  readonly verdict?: NegotiatedProtocol;
  /** What `close` waits for. */
  readonly closing?: Promise<void>;
}

export const oneTool: Readonly<Record<string, JsonObject>> = {
  "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
};

export function scriptedSession({
  answers = oneTool,
  capabilities = { tools: {} },
  verdict = { era: "legacy", transport: "stdio" },
  closing,
}: Script = {}): ScriptedSession {
  const asked: string[] = [];
  const open = new Set<(error: WireError) => void>();
  let settle: (cause: WireError | undefined) => void = () => {};
  const closed = new Promise<WireError | undefined>((resolve) => {
    settle = resolve;
  });
  function fail(error: WireError): void {
    for (const reject of open) reject(error);
    open.clear();
  }
  function request(method: string, params: JsonObject = {}, { signal }: McpRequestOptions = {}): Promise<JsonObject> {
    asked.push(method);
    return new Promise((resolve, reject) => {
      const given = answers[method];
      const answer = typeof given === "function" ? given(params) : given;
      if (answer instanceof WireError) return reject(answer);
      if (answer) return resolve(answer);
      open.add(reject);
      const cancel = (): void => reject(new WireError("cancelled", `${method} was cancelled`));
      if (signal?.aborted) cancel();
      signal?.addEventListener("abort", cancel, { once: true });
    });
  }
  return {
    era: verdict.era,
    protocolVersion: "2025-11-25",
    serverInfo: { name: "scripted", version: "1.0.0" },
    capabilities,
    protocol: verdict,
    asked,
    closed,
    request,
    notify: async () => {},
    onNotification: () => () => {},
    onRequest: () => {},
    die(cause) {
      fail(cause);
      settle(cause);
    },
    async close() {
      fail(new WireError("closed", "closed from here"));
      await closing;
      settle(undefined);
    },
  };
}
