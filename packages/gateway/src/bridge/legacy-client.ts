/** The session of one legacy client (protocol versions before 2026-07-28). */

import { isDeepStrictEqual } from "node:util";
import type { ListName } from "@fairlead/core/events";
import type { JsonObject } from "@fairlead/wire";
import { isObject, objectOf, stringOf } from "@fairlead/wire/json";
import { legacyVersions, type ServedClient, type ServedRequest } from "@fairlead/wire/serve";
import type { ClientCall } from "../questions/client-call.ts";
import { capabilitiesIn } from "../questions/server-question.ts";
import { answerRequest } from "./answer-request.ts";
import type { BridgeContext } from "./bridge-context.ts";
import { passedOnCapabilities } from "./extensions.ts";
import { greet, meetGateways } from "./greeting.ts";
import { isLogLevel } from "./log-levels.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";
import { describesSkills } from "./skill-tool.ts";
import { skillLists } from "./skills.ts";
import { concerns, createResourceSubscriptions } from "./subscriptions.ts";

/** A request as the wire gives it, with its span. */
interface LegacyRequest extends Pick<ClientCall, "received"> {
  readonly request: ServedRequest;
}

export interface LegacyClient {
  /**
   * Answers a request.
   * @throws WireError with the JSON-RPC error for the client
   */
  request(method: string, params: JsonObject, request: LegacyRequest): Promise<JsonObject>;
  notification(method: string, params: JsonObject): void;
  close(): void;
}

/** A class with getters, so that an `AbortSignal` is created only if it is needed. */
class LegacyCall implements ClientCall {
  readonly era = "legacy";
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  readonly received: ClientCall["received"];
  readonly #request: ServedRequest;
  readonly #client: ServedClient;

  constructor(
    { request, received }: LegacyRequest,
    capabilities: JsonObject,
    logLevel: string | undefined,
    client: ServedClient,
  ) {
    this.#request = request;
    this.received = received;
    this.capabilities = capabilities;
    this.logLevel = logLevel;
    this.#client = client;
  }

  get id(): ServedRequest["id"] {
    return this.#request.id;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get stop(): ServedRequest["stop"] {
    return this.#request.stop;
  }

  drained(): Promise<void> | undefined {
    return this.#client.drained();
  }

  notify(method: string, params: JsonObject): void {
    void Promise.allSettled([this.#client.notify(method, params, this.id)]);
  }

  ask(method: string, params: JsonObject, until: AbortSignal): Promise<JsonObject> {
    return this.#client.request(method, params, { about: this.id, signal: until });
  }
}

/** The requests whose answers a client keeps until it is told of a change. */
const listsOf: ReadonlyMap<string, ListName> = new Map([
  ["tools/list", "tools"],
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resources"],
]);

/** Creates the session. Its capabilities are empty until `initialize`. */
export function createLegacyClient(context: BridgeContext, client: ServedClient): LegacyClient {
  const { workspace, levels } = context;
  const { news } = workspace;
  const subscriptions = createResourceSubscriptions(context, (uri) => {
    if (stops.length > 0) tell("notifications/resources/updated", { uri });
  });
  const stops: (() => void)[] = [];
  /** The content of each list when the client last requested it. */
  const given = new Map<ListName, readonly unknown[]>();
  let capabilities: JsonObject = {};
  let logLevel: string | undefined;

  function tell(method: string, params?: JsonObject): void {
    void Promise.allSettled([client.notify(method, params)]);
  }

  function callOf(request: LegacyRequest): ClientCall {
    return new LegacyCall(request, capabilities, logLevel, client);
  }

  async function initialize(params: JsonObject): Promise<JsonObject> {
    const asked = stringOf(params["protocolVersion"]) ?? "";
    const [latest = ""] = legacyVersions;
    const protocolVersion = legacyVersions.includes(asked) ? asked : latest;
    capabilities = capabilitiesIn(protocolVersion, objectOf(params["capabilities"]));
    workspace.declare(capabilities);
    workspace.passOn(passedOnCapabilities(capabilities));
    const _meta = await meetGateways(context, params);
    return { protocolVersion, ...(await greet(context, "legacy")), _meta };
  }

  /** What a list of this client depends on now, besides the rules. */
  function contentOf(list: ListName): readonly unknown[] {
    const { own, loadSkill, tools, prompts, resources, templates } = context.view();
    const skills = skillLists(context);
    const items = {
      tools: [tools, loadSkill, loadSkill && skills],
      prompts: [prompts],
      resources: [resources, templates, skills],
    }[list];
    return [own, workspace.host.gateway.clientProfile(context.client.name)?.toolBudget, ...items];
  }

  /** Whether the client would get another list than the one that it was last given. */
  function isOther(list: ListName): boolean {
    return !isDeepStrictEqual(given.get(list), contentOf(list));
  }

  async function answer(call: ClientCall, method: string, params: JsonObject): Promise<JsonObject> {
    const result = await answerRequest(context, call, { method, params });
    const list = listsOf.get(method);
    if (list !== undefined) given.set(list, contentOf(list));
    return result;
  }

  /** The protocol allows notifications about changes only after `notifications/initialized`. */
  function follow(): void {
    if (stops.length > 0) return;
    stops.push(
      news.onLists((list, { server, isCertain }) => {
        if (!concerns(context, server)) return;
        if (isCertain || isOther(list)) tell(`notifications/${list}/list_changed`);
        if (list === "resources" && describesSkills(context) && isOther("tools"))
          tell("notifications/tools/list_changed");
      }),
    );
  }

  async function setLevel({ level }: JsonObject): Promise<JsonObject> {
    if (!isLogLevel(level)) throw rpcError(rpcCodes.invalidParams, "params.level is not a log level");
    logLevel = level;
    levels.set(context.client.conversation, level);
    return {};
  }

  return {
    request(method, params, request) {
      switch (method) {
        case "initialize":
          return initialize(params);
        case "logging/setLevel":
          return setLevel(params);
        case "resources/subscribe":
          return subscriptions.add(callOf(request), params["uri"]).then(() => ({}));
        case "resources/unsubscribe":
          subscriptions.remove(params["uri"]);
          return Promise.resolve({});
        default:
          return listsOf.has(method)
            ? answer(callOf(request), method, params)
            : answerRequest(context, callOf(request), { method, params });
      }
    },
    notification(method, params) {
      if (method === "notifications/initialized") follow();
      else if (method === "notifications/roots/list_changed" && isObject(params)) void rootsChanged();
    },
    close() {
      for (const stop of stops) stop();
      subscriptions.close();
      levels.set(context.client.conversation, undefined);
    },
  };

  /** Only servers that no other client uses learn about the roots. */
  async function rootsChanged(): Promise<void> {
    await Promise.allSettled([workspace.rootsChanged()]);
  }
}
