/** Passes a server's questions (elicitation, sampling, roots) to the client whose request is open. */

import { hash } from "node:crypto";
import type { GatewayHost } from "@fairlead/core/host";
import { canonicalJson } from "@fairlead/core/plain-text";
import type { JsonObject, RequestHandler } from "@fairlead/wire";
import { isObject, member, objectOf } from "@fairlead/wire/json";
import type { ClientCall } from "../questions/client-call.ts";
import { askClient, labelledRequests, lackingFor, withElicitationId } from "../questions/server-question.ts";
import { whyUnanswered } from "../workspaces.ts";
import { askedClient } from "./asked-client.ts";
import type { BridgeContext } from "./bridge-context.ts";
import { passedOnExtensions } from "./extensions.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";

/** Maximum number of allowed sampling requests that are remembered for one client. */
const mostSampled = 1000;

/**
 * The questions of one forwarded request. A modern server puts them into its result for a modern client. Otherwise the
 * gateway asks the client each question.
 *
 * This is a class, because creating functions for each request would take longer than sending it.
 */
export class ServerQuestions {
  readonly #context: BridgeContext;
  readonly #call: ClientCall;
  readonly #server: string;
  /** Whether the settings let the server learn the client's folders. */
  readonly #mayHaveRoots: boolean;
  /** Ids that the gateway gave to URL elicitations. Modern servers give them none, but legacy clients need one. */
  #elicitations: string[] | undefined;
  /** Capabilities that the server's questions need but the client did not declare. */
  #lacking: JsonObject | undefined;

  constructor(context: BridgeContext, call: ClientCall, server: string) {
    this.#context = context;
    this.#call = call;
    this.#server = server;
    this.#mayHaveRoots = this.#gateway.servers.find(server)?.mayHaveRoots ?? false;
  }

  /**
   * Returns the client's capabilities that the gateway declares to the server.
   * @param own Extensions that the gateway itself carries, such as tasks.
   */
  carried(own: JsonObject | undefined): JsonObject {
    const { elicitation, sampling, roots, extensions: declared } = this.#call.capabilities;
    if ((elicitation ?? sampling ?? roots ?? declared ?? own) === undefined) return noCapabilities;
    const extensions = { ...passedOnExtensions(this.#call.capabilities), ...own };
    return {
      elicitation: isObject(elicitation) ? elicitation : undefined,
      sampling: isObject(sampling) ? sampling : undefined,
      roots: isObject(roots) && this.#mayHaveRoots ? {} : undefined,
      extensions: Object.keys(extensions).length === 0 ? undefined : extensions,
    };
  }

  /** Answers a question of the server by asking the client. */
  readonly answer: RequestHandler = async (method, params, signal, origin) => {
    const call = this.#call;
    this.#refuseRoots(method);
    const lacking = lackingFor(method, params, call.capabilities);
    const byPerson = lacking && this.#context.workspace.host.person.ask(this.#server, method, params, signal);
    // On a connection of its own, the server would not learn that a person can be asked.
    if (byPerson !== undefined) return byPerson;
    const server = this.#gateway.servers.find(this.#server);
    // The next question may come while requests of several clients are open, so they stop sharing the server now.
    server?.noteAsksBack();
    // On a connection that all clients share for good, each question after a cancellation would fail.
    if (origin?.isDoubtful === true && server?.shareOf() === "client")
      throw new Error(`"${this.#server}" sent ${method}, but ${whyUnanswered(server, "doubtful")}`);
    this.#lacking = { ...this.#lacking, ...lacking };
    this.#elicitations ??= [];
    const identified = withElicitationId(method, params, this.#elicitations);
    const asker = { server: this.#server, isNamed: this.#isNamed };
    const ask = (until: AbortSignal): Promise<JsonObject> =>
      askClient(call, asker, { method, params: identified }, until);
    return method === "sampling/createMessage" ? this.#sample(params, ask, signal) : ask(signal);
  };

  /** @throws WireError if the server asks for folders that the settings do not let it learn */
  #refuseRoots(method: unknown): void {
    if (method !== "roots/list" || this.#mayHaveRoots) return;
    const server = this.#server;
    const why = `fairlead.servers.${server}.roots is not true, or the folder is not trusted`;
    throw rpcError(rpcCodes.refused, `"${server}" may not learn the client's folders (roots/list): ${why}`, {
      reason: "roots_refused",
    });
  }

  get #gateway(): GatewayHost {
    return this.#context.workspace.host.gateway;
  }

  get #isNamed(): boolean {
    return this.#context.client.only === undefined;
  }

  /** The policy rules decide whether the server may use the client's model. */
  async #sample(
    params: JsonObject,
    ask: (until: AbortSignal) => Promise<JsonObject>,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const context = this.#context;
    const server = this.#server;
    const gateway = this.#gateway;
    return gateway.sampleThrough(server, params, ask, {
      signal,
      client: context.client,
      confirm: context.consent.port(askedClient(context, this.#call), signal, gateway.identify(server)),
    });
  }

  /**
   * Call this after a failed request.
   * @throws WireError that names the capabilities that a modern client should have declared
   */
  throwIfLacking(): void {
    const names = Object.keys(this.#lacking ?? {});
    if (this.#call.era === "legacy" || names.length === 0) return;
    const message = `the server "${this.#server}" requires client capabilities that this client does not declare: ${names.join(", ")}`;
    throw rpcError(rpcCodes.missingCapability, message, { requiredCapabilities: this.#lacking });
  }

  /** Returns a modern server's result for the client. Checks the rules for the sampling requests in it. */
  async inResult(result: JsonObject): Promise<JsonObject> {
    const { inputRequests, taskId } = result;
    const server = this.#server;
    const { sampled } = this.#context;
    if (!isObject(inputRequests)) return result;
    for (const [key, request] of Object.entries(inputRequests)) {
      this.#refuseRoots(member(request, "method"));
      if (member(request, "method") !== "sampling/createMessage") continue;
      const asked = objectOf(member(request, "params"));
      // A task repeats its questions until they are answered. The person must not be asked each time.
      const question = hash("sha256", canonicalJson([server, taskId, key, asked]));
      if (taskId !== undefined && sampled.has(question)) continue;
      await this.#sample(asked, async () => ({}), this.#call.signal);
      if (taskId === undefined) continue;
      sampled.add(question);
      const [oldest] = sampled;
      if (sampled.size > mostSampled && oldest !== undefined) sampled.delete(oldest);
    }
    return { ...result, inputRequests: labelledRequests(inputRequests, server, this.#isNamed) };
  }

  /** Tells a legacy client that its URL elicitations are complete. Call this when the request has ended. */
  end(): void {
    if (this.#call.era !== "legacy" || this.#elicitations === undefined) return;
    for (const elicitationId of this.#elicitations)
      this.#call.notify("notifications/elicitation/complete", { elicitationId });
  }
}

const noCapabilities: JsonObject = {};
