/**
 * Forwards requests from gateway clients to servers. Calls, prompts and reads run through `spine.ts`, like all requests
 * of a host.
 */

import type { JsonObject, McpRequestOptions } from "@fairlead/wire";
import { isObject, objectOf, stringOf } from "@fairlead/wire/json";
import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { ForwardedRequest, ForwardOptions, GatewayHost } from "../gateway-types.ts";
import type { OpenWork } from "../open-work.ts";
import type { LiveConfiguration } from "../servers/live-configuration.ts";
import type { HostServers } from "../servers/servers.ts";
import { ForwardedCall } from "./forwarded-call.ts";
import { createReadSteps, type Read, shownRead } from "./read-steps.ts";
import type { Spine } from "./spine.ts";
import type { CallParts } from "./tool-call.ts";

/** The parts of the host that forwarding uses. */
export interface ForwardingOptions {
  readonly configuration: LiveConfiguration;
  readonly servers: Pick<HostServers, "ready" | "use">;
  readonly calls: CallParts;
  readonly spine: Spine;
  readonly work: OpenWork;
  readonly clock: Clock;
}

/**
 * Methods that need no permission. A log level affects only log messages. A task belongs to a call that was already
 * allowed.
 */
const undecided: ReadonlySet<string> = new Set(["logging/setLevel", "tasks/get", "tasks/update", "tasks/cancel"]);

/** Creates `host.forward`. */
export function createForwarding(options: ForwardingOptions): Pick<GatewayHost, "forward"> {
  const { configuration, calls, spine, work, clock } = options;
  const { ready, use } = options.servers;
  const { steps } = createReadSteps({ configuration, ready, use, clock });

  function read(forwarded: ForwardedRequest, subject: Subject, given: ForwardOptions): Promise<JsonObject> {
    const { client, server, method, params } = forwarded;
    const { signal, stop, confirm, confirmed, onProgress } = given;
    const wire = toWire(forwarded, given);
    const asked: Read<JsonObject> = {
      ...subject,
      ask: (connected, times) =>
        connected.request(whatOf(forwarded, subject), method, params, {
          ...times,
          ...(onProgress && { onProgress }),
          ...wire,
        }),
    };
    const { name, conversation } = client;
    return spine.run({
      ...steps(asked, given),
      turn: (until) => given.turn?.(configuration.current().settings.host.limits, until),
      who: "client",
      client: name,
      conversation,
      serverName: server,
      signal,
      stop,
      confirm,
      confirmed,
    });
  }

  function send(forwarded: ForwardedRequest, given: ForwardOptions): Promise<JsonObject> {
    const { server, method, params } = forwarded;
    return work.run(async (signal) => {
      const release = use(server);
      try {
        const client = await ready(server, signal);
        const leave = await given.turn?.(configuration.current().settings.host.limits, signal);
        try {
          const timeout = given.timeout ?? configuration.timeoutOf(server);
          const wire = toWire(forwarded, given);
          return await client.request(`${method} of ${server}`, method, params, { signal, timeout, ...wire });
        } finally {
          leave?.();
        }
      } finally {
        release();
      }
    }, given.stop?.signal ?? given.signal);
  }

  /**
   * Runs a completion. If the rules deny the prompt or template to the client, this fails too, because the suggested
   * values may reveal data.
   */
  async function complete(request: ForwardedRequest, given: ForwardOptions): Promise<JsonObject> {
    const { client, server, params } = request;
    const { type, name, uri } = objectOf(params["ref"]);
    const isPrompt = type === "ref/prompt";
    const serverToolName = stringOf(isPrompt ? name : uri) ?? "";
    /*
     * Throws if a rule denies the prompt or template. If a rule asks for confirmation, the completion runs anyway:
     * Fairlead would otherwise ask after every typed character.
     */
    await spine.ask({
      who: "client",
      client: client.name,
      conversation: client.conversation,
      kind: isPrompt ? "prompt" : "resource",
      serverName: server,
      serverToolName,
      shown: shownRead(server, serverToolName),
    });
    return send(request, given);
  }

  return {
    forward(request, given = {}) {
      const { server, method, params } = request;
      if (undecided.has(method)) return send(request, given);
      if (method === "completion/complete") return complete(request, given);
      const args = params["arguments"];
      const name = params[method === "resources/read" ? "uri" : "name"];
      if (typeof name !== "string" || (args !== undefined && !isObject(args)))
        return Promise.reject(invalid(server, method));
      if (method === "tools/call") {
        return spine.run(new ForwardedCall(request, { name, args: args ?? {} }, given, calls));
      }
      const subject = subjectOf(request, name, args ?? {});
      if (subject !== undefined) return read(request, subject, given);
      return Promise.reject(
        new HostError("usage", `${method.slice(0, 100)} cannot be forwarded: the method is not supported`, {
          serverName: server,
        }),
      );
    },
  };
}

type Subject = Pick<Read<JsonObject>, "request" | "shown">;

function subjectOf({ server, method }: ForwardedRequest, name: string, args: JsonObject): Subject | undefined {
  const identity = { serverName: server, serverToolName: name };
  if (method === "resources/read")
    return { request: { ...identity, kind: "resource" }, shown: shownRead(server, name) };
  if (method === "prompts/get")
    return { request: { ...identity, kind: "prompt", args }, shown: { ...identity, name, description: "" } };
  return undefined;
}

function whatOf({ server, method }: ForwardedRequest, { request }: Subject): string {
  const { serverToolName } = request;
  return method === "prompts/get" ? `prompt ${serverToolName} of ${server}` : `${serverToolName} of ${server}`;
}

/**
 * The options for sending a request. With `owner`, a request that the server sends meanwhile goes to the same client.
 */
function toWire({ client }: ForwardedRequest, given: ForwardOptions): McpRequestOptions {
  const { signal: _s, stop: _e, timeout: _t, confirmed: _c, confirm: _p, turn: _u, onProgress: _o, ...wire } = given;
  return { owner: client.conversation, ...wire };
}

function invalid(serverName: string, method: string): HostError {
  const what = method === "resources/read" ? "uri must be a string" : "name must be a string and arguments an object";
  // Not `arguments_invalid`: this is a mistake of the client's program, not of its model.
  return new HostError("usage", `Invalid parameters of ${method.slice(0, 100)}: ${what}`, { serverName });
}
