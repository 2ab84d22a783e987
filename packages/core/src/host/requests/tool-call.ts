/** One tool call on its way through the spine. */

import type { JsonObject } from "@fairlead/wire";
import type { CallResult } from "../../execute/call-result.ts";
import type { Executor } from "../../execute/executor.ts";
import type { McpClient } from "../../mcp/client.ts";
import type { CallWatch } from "../../registry/binding.ts";
import type { AskedTool } from "../../registry/confirmation.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import type { LiveConfiguration } from "../servers/live-configuration.ts";
import type { HostServers } from "../servers/servers.ts";
import type { CallOptions } from "../types.ts";
import type { HostRequest } from "./host-request.ts";

/** The parts of a host that its calls share. */
export interface CallParts extends Pick<HostServers, "use" | "connected" | "ready">, Pick<Catalogs, "acceptedSaved"> {
  readonly configuration: LiveConfiguration;
  /** Undefined before the first call. */
  readonly executor: () => Executor | undefined;
  readonly openExecutor: () => Promise<Executor>;
}

type Request = HostRequest<CallResult, unknown>;

type GivenOptions = Pick<Request, "signal" | "confirm" | "confirmed" | "acceptChanged" | "onAllowed"> &
  Pick<CallOptions, "timeout" | "onProgress"> &
  Pick<CallWatch, "onStart">;

/** A class: functions for its steps would have to be created for each call, which costs as much as sending it. */
export class ToolCall<Shown> implements HostRequest<CallResult, Shown> {
  readonly who: "user" | "model";
  readonly serverName: string;
  readonly serverToolName: string;
  readonly args: JsonObject;
  readonly shown: AskedTool;
  readonly present: (result: CallResult) => Shown | Promise<Shown>;
  readonly #given: GivenOptions;
  readonly #parts: CallParts;
  #client: McpClient | undefined;

  constructor(
    who: "user" | "model",
    shown: AskedTool,
    args: JsonObject,
    given: GivenOptions,
    parts: CallParts,
    present: (result: CallResult) => Shown | Promise<Shown>,
  ) {
    this.who = who;
    this.serverName = shown.serverName;
    this.serverToolName = shown.serverToolName;
    this.args = args;
    this.shown = shown;
    this.present = present;
    this.#given = given;
    this.#parts = parts;
  }

  get signal(): Request["signal"] {
    return this.#given.signal;
  }

  get confirm(): Request["confirm"] {
    return this.#given.confirm;
  }

  get confirmed(): Request["confirmed"] {
    return this.#given.confirmed;
  }

  get acceptChanged(): Request["acceptChanged"] {
    return this.#given.acceptChanged;
  }

  get onAllowed(): Request["onAllowed"] {
    return this.#given.onAllowed;
  }

  hold(): () => void {
    return this.#parts.use(this.serverName);
  }

  connect(signal: AbortSignal): Promise<unknown> | undefined {
    const { serverName } = this;
    const { connected, ready, acceptedSaved } = this.#parts;
    this.#client = connected(serverName);
    // A definition that cannot be saved needs confirmation.
    if (this.#client !== undefined) return acceptedSaved(serverName);
    return ready(serverName, signal).then((reached) => {
      this.#client = reached;
      return acceptedSaved(serverName);
    });
  }

  execute(signal: AbortSignal): Promise<CallResult> {
    const executor = this.#parts.executor();
    return executor && this.#client ? this.#send(executor, this.#client, signal) : this.#openAndSend(signal);
  }

  outcomeOf({ isError }: CallResult): "ok" | "tool_error" {
    return isError ? "tool_error" : "ok";
  }

  async #openAndSend(signal: AbortSignal): Promise<CallResult> {
    const executor = await this.#parts.openExecutor();
    return this.#send(executor, this.#client ?? (await this.#parts.ready(this.serverName, signal)), signal);
  }

  #send(executor: Executor, client: McpClient, signal: AbortSignal): Promise<CallResult> {
    const { serverName, serverToolName: tool, args } = this;
    const { configuration } = this.#parts;
    const { timeout = configuration.timeoutOf(serverName), onProgress, onStart } = this.#given;
    const total = configuration.current().settings.host.limits.callTotal;
    const trustAnnotations = configuration.definition(serverName)?.extras.trustAnnotations ?? false;
    return executor.call({ client, tool, args }, { timeout, total, trustAnnotations, signal, onProgress, onStart });
  }
}
