/** A tool call from a gateway client, as `spine.ts` runs it. */

import type { JsonObject, McpRequestOptions } from "@fairlead/wire";
import type { Executor } from "../../execute/executor.ts";
import type { ServerClient } from "../../mcp/client.ts";
import type { RequestSignal } from "../../mcp/unless-aborted.ts";
import type { AskedTool } from "../../registry/confirmation.ts";
import type { ForwardedRequest, ForwardOptions, TakeTurn } from "../gateway-types.ts";
import type { HostRequest } from "./host-request.ts";
import { type CallParts, ServerCall } from "./tool-call.ts";

type Request = HostRequest<JsonObject, JsonObject>;

/** A tool call from a gateway client. The host returns the server's result unchanged. */
export class ForwardedCall extends ServerCall<JsonObject> implements HostRequest<JsonObject, JsonObject> {
  readonly who = "client";
  readonly client: string;
  readonly conversation: string;
  readonly serverName: string;
  readonly serverToolName: string;
  readonly args: JsonObject;
  readonly #params: JsonObject;
  readonly #given: ForwardOptions;

  /** @param args The arguments of the call; empty if the client sent none. */
  constructor(
    { client, server, params }: ForwardedRequest,
    { name, args }: { readonly name: string; readonly args: JsonObject },
    given: ForwardOptions,
    parts: CallParts,
  ) {
    super(parts);
    this.client = client.name;
    this.conversation = client.conversation;
    this.serverName = server;
    this.serverToolName = name;
    this.args = args;
    this.#params = params;
    this.#given = given;
  }

  get shown(): AskedTool {
    return this.parts.shownTool(this);
  }

  get signal(): Request["signal"] {
    return this.#given.signal;
  }

  get stop(): Request["stop"] {
    return this.#given.stop;
  }

  get confirm(): Request["confirm"] {
    return this.#given.confirm;
  }

  get confirmed(): Request["confirmed"] {
    return this.#given.confirmed;
  }

  turn(signal: RequestSignal): ReturnType<TakeTurn> | undefined {
    return this.#given.turn?.(this.parts.configuration.current().settings.host.limits, signal);
  }

  outcomeOf({ isError }: JsonObject): "ok" | "tool_error" {
    return isError === true ? "tool_error" : "ok";
  }

  present(result: JsonObject): JsonObject {
    return result;
  }

  protected send(executor: Executor<ServerClient>, client: ServerClient, signal: RequestSignal): Promise<JsonObject> {
    const { serverName, serverToolName: tool, args } = this;
    const send = (to: ServerClient, checked: JsonObject, options: McpRequestOptions): Promise<JsonObject> => {
      // Unchanged arguments are sent exactly as the client sent them.
      const params = checked === args ? this.#params : { ...this.#params, arguments: checked };
      return to.request(`${serverName}.${tool}`, "tools/call", params, this.#toWire(options));
    };
    return executor.forward(
      { client, tool, args, send },
      this.executeOptions(signal, this.#given, this.#given.turn !== undefined),
    );
  }

  /**
   * The options for sending the call. Copies each member by name, because a spread would take longer than sending the
   * call.
   */
  #toWire({ signal, stop, timeout, total, asTask, onProgress }: McpRequestOptions): McpRequestOptions {
    const { meta, capabilities, logLevel, onNotification, answer, input, tasks, owner, beforeSend } = this.#given;
    return {
      signal,
      stop,
      timeout,
      total,
      asTask,
      onProgress,
      meta,
      capabilities,
      logLevel,
      onNotification,
      answer,
      input,
      tasks,
      owner: owner ?? this.conversation,
      beforeSend,
    };
  }
}
