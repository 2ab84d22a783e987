/** One tool call as `spine.ts` runs it, and the steps that all tool calls share. */

import type { JsonObject } from "@fairlead/wire";
import { callCancelled } from "../../execute/call-errors.ts";
import type { CallResult } from "../../execute/call-result.ts";
import type { ExecuteOptions, Executor } from "../../execute/executor.ts";
import type { ServerClient } from "../../mcp/client.ts";
import { type RequestSignal, toAbortSignal, unlessAborted } from "../../mcp/unless-aborted.ts";
import type { ToolIdentity } from "../../policy/decide.ts";
import type { CallWatch } from "../../registry/binding.ts";
import type { AskedTool } from "../../registry/confirmation.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import type { LiveConfiguration } from "../servers/live-configuration.ts";
import type { HostServers } from "../servers/servers.ts";
import type { CallOptions } from "../types.ts";
import type { HostRequest } from "./host-request.ts";

/** The parts of a host that all its calls share. */
export interface CallParts extends Pick<HostServers, "use" | "connected" | "ready">, Pick<Catalogs, "acceptedSaved"> {
  readonly configuration: LiveConfiguration;
  /** The executor; undefined before the first call. */
  readonly executor: () => Executor<ServerClient> | undefined;
  readonly openExecutor: () => Promise<Executor<ServerClient>>;
  /** The tool as the confirmation shows it, with its definition from the catalog. */
  readonly shownTool: (tool: ToolIdentity) => AskedTool;
}

type Request = HostRequest<CallResult, unknown>;

type GivenOptions = Pick<Request, "signal" | "confirmed" | "acceptChanged" | "onAllowed"> &
  Pick<CallOptions, "timeout" | "onProgress"> &
  Pick<CallWatch, "onStart">;

/** The common steps of all tool calls: connect the server, and wait for the executor. */
export abstract class ServerCall<Result> {
  abstract readonly serverName: string;
  abstract readonly serverToolName: string;
  abstract readonly signal: AbortSignal | undefined;
  protected readonly parts: CallParts;
  #client: ServerClient | undefined;

  constructor(parts: CallParts) {
    this.parts = parts;
  }

  hold(): () => void {
    return this.parts.use(this.serverName);
  }

  connect(signal: RequestSignal): Promise<unknown> | undefined {
    const { serverName } = this;
    const { connected, acceptedSaved } = this.parts;
    this.#client = connected(serverName);
    const reading = this.#client?.upToDate("tools");
    // A new definition that cannot be saved needs confirmation, so the call waits for the save.
    if (this.#client !== undefined && reading === undefined) return acceptedSaved(serverName);
    return this.#connectLater(reading, toAbortSignal(signal));
  }

  execute(signal: RequestSignal): Promise<Result> {
    const executor = this.parts.executor();
    return executor && this.#client ? this.send(executor, this.#client, signal) : this.#openAndSend(signal);
  }

  /** The executor's options for this call. Default of `timeout`: the server's setting. */
  protected executeOptions(
    signal: RequestSignal,
    {
      timeout,
      onProgress,
      onStart,
    }: Pick<ExecuteOptions, "onProgress" | "onStart"> & { readonly timeout?: number | undefined },
    isInTurn?: boolean,
  ): ExecuteOptions {
    const { serverName } = this;
    const { configuration } = this.parts;
    return {
      signal,
      timeout: timeout ?? configuration.timeoutOf(serverName),
      total: configuration.current().settings.host.limits.callTotal,
      trustAnnotations: configuration.definition(serverName)?.extras.trustAnnotations ?? false,
      onProgress,
      onStart,
      isInTurn,
    };
  }

  protected abstract send(
    executor: Executor<ServerClient>,
    client: ServerClient,
    signal: RequestSignal,
  ): Promise<Result>;

  /**
   * Connects the server, and waits until its tools are as it last reported them: a call that was allowed by an older
   * definition must not reach a tool that has changed.
   */
  async #connectLater(reading: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
    const { serverName } = this;
    const { ready, acceptedSaved } = this.parts;
    this.#client ??= await ready(serverName, signal);
    const read = reading ?? this.#client.upToDate("tools");
    if (read !== undefined)
      await unlessAborted(read, signal, () => callCancelled(serverName, this.serverToolName, signal));
    await acceptedSaved(serverName);
  }

  async #openAndSend(signal: RequestSignal): Promise<Result> {
    const executor = await this.parts.openExecutor();
    return this.send(
      executor,
      this.#client ?? (await this.parts.ready(this.serverName, toAbortSignal(signal))),
      signal,
    );
  }
}

/**
 * A call from a model or the user. A class, because creating a function for each step would take as long as sending the
 * call.
 */
export class ToolCall<Shown> extends ServerCall<CallResult> implements HostRequest<CallResult, Shown> {
  readonly who: "user" | "model";
  readonly serverName: string;
  readonly serverToolName: string;
  readonly args: JsonObject;
  readonly shown: AskedTool;
  readonly confirm: Request["confirm"];
  readonly present: (result: CallResult) => Shown | Promise<Shown>;
  readonly #given: GivenOptions;

  constructor(
    who: "user" | "model",
    shown: AskedTool,
    args: JsonObject,
    given: GivenOptions,
    confirm: Request["confirm"],
    parts: CallParts,
    present: (result: CallResult) => Shown | Promise<Shown>,
  ) {
    super(parts);
    this.who = who;
    this.serverName = shown.serverName;
    this.serverToolName = shown.serverToolName;
    this.args = args;
    this.shown = shown;
    this.confirm = confirm;
    this.present = present;
    this.#given = given;
  }

  get signal(): Request["signal"] {
    return this.#given.signal;
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

  outcomeOf({ isError }: CallResult): "ok" | "tool_error" {
    return isError ? "tool_error" : "ok";
  }

  protected send(executor: Executor<ServerClient>, client: ServerClient, signal: RequestSignal): Promise<CallResult> {
    const { serverToolName: tool, args } = this;
    return executor.call({ client, tool, args }, this.executeOptions(signal, this.#given));
  }
}
