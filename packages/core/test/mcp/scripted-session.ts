/** A conversation that a test holds both ends of: it answers what the test wrote, and stays silent on everything else. */

import { type JsonObject, type RequestOptions, type Session, WireError } from "@fairlead/wire";

export interface ScriptedSession extends Session {
  /** Every request so far, by method. */
  readonly asked: readonly string[];
  /** The server is gone: whatever is open fails with it, as on a wire. */
  die(cause: WireError): void;
}

export interface Script {
  readonly answers?: Readonly<Record<string, JsonObject | WireError>>;
  readonly capabilities?: JsonObject;
  /** What `close` waits for. */
  readonly closing?: Promise<void>;
}

export const oneTool: Readonly<Record<string, JsonObject>> = {
  "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
};

export function scriptedSession({
  answers = oneTool,
  capabilities = { tools: {} },
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
  function request(method: string, _params?: JsonObject, { signal }: RequestOptions = {}): Promise<JsonObject> {
    asked.push(method);
    return new Promise((resolve, reject) => {
      const answer = answers[method];
      if (answer instanceof WireError) return reject(answer);
      if (answer) return resolve(answer);
      open.add(reject);
      const cancel = (): void => reject(new WireError("cancelled", `${method} was cancelled`));
      if (signal?.aborted) cancel();
      signal?.addEventListener("abort", cancel, { once: true });
    });
  }
  return {
    era: "legacy",
    protocolVersion: "2025-11-25",
    serverInfo: { name: "scripted", version: "1.0.0" },
    capabilities,
    verdict: { era: "legacy", transport: "stdio" },
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
