/**
 * Answers requests of modern clients (version 2026-07-28). To ask such a client something, the gateway answers its
 * request with `input_required`.
 */

import { hash } from "node:crypto";
import { canonicalJson } from "@fairlead/core/plain-text";
import type { JsonObject } from "@fairlead/wire";
import { member, objectOf, stringOf } from "@fairlead/wire/json";
import { modernVersions, type ServedClient, type ServedRequest } from "@fairlead/wire/serve";
import type { ClientCall } from "../questions/client-call.ts";
import { isParkedState, type ModernRequest } from "../questions/parked-calls.ts";
import { uncached } from "./adapt-result.ts";
import { answerRequest, type ReceivedRequest } from "./answer-request.ts";
import type { BridgeContext } from "./bridge-context.ts";
import { passedOnCapabilities } from "./extensions.ts";
import { greet, meetGateways } from "./greeting.ts";
import { isLogLevel } from "./log-levels.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";
import { listenToChanges } from "./subscriptions.ts";

const prefix = "io.modelcontextprotocol/";
const unsupportedVersion = -32022;

/**
 * Answers a request. Each modern request carries the client's capabilities.
 * @throws WireError with the JSON-RPC error for the client
 */
export async function answerModern(
  context: BridgeContext,
  client: ServedClient,
  { method, params }: { readonly method: string; readonly params: JsonObject },
  { id, signal, gone, received }: ServedRequest & Pick<ModernRequest, "gone" | "received">,
): Promise<JsonObject> {
  const meta = objectOf(params["_meta"]);
  const version = stringOf(meta[`${prefix}protocolVersion`]) ?? "";
  if (!modernVersions.includes(version))
    throw rpcError(unsupportedVersion, `protocol version ${version} is not supported`, {
      supported: modernVersions,
      requested: version,
    });
  const capabilities = member(meta, `${prefix}clientCapabilities`);
  if (capabilities === undefined)
    throw rpcError(rpcCodes.invalidParams, `params._meta lacks ${prefix}clientCapabilities`);
  const level = meta[`${prefix}logLevel`];
  const { inputResponses, requestState, ...asked } = params;
  const { _meta: _envelope, ...subject } = asked;
  const request: ModernRequest = {
    id,
    client: JSON.stringify(senderOf(context)),
    identity: hash("sha256", canonicalJson([...senderOf(context), context.client.only ?? "", method, subject])),
    capabilities: objectOf(capabilities),
    logLevel: isLogLevel(level) ? level : undefined,
    signal,
    gone,
    received,
    drained: () => client.drained(),
    // The client may have disconnected.
    notify: (name, news) => void Promise.allSettled([client.notify(name, news, id)]),
  };
  context.workspace.passOn(passedOnCapabilities(request.capabilities));
  const { parked, states } = context;
  if (method === "server/discover") return discovered(context, params);
  if (isParkedState(requestState)) return parked.resume(request, requestState, inputResponses);

  const isOpened = states.isOwn(requestState) || (states.includesServers && requestState !== undefined);
  const opened = states.isOwn(requestState) ? await states.take(requestState, request.identity) : undefined;
  if (isOpened && opened === undefined)
    throw rpcError(
      rpcCodes.invalidParams,
      "requestState is invalid: it expired, was changed or was used before; the request may have run",
      {
        reason: "invalid_request_state",
      },
    );
  const sent = opened === undefined ? params : { ...asked, inputResponses, requestState: opened.state };
  const call = parked.open(request);
  if (method === "subscriptions/listen") return parked.untilAsked(call, listenToChanges(context, call, sent));
  const sending = { method, params: sent, confirmed: opened?.subject };
  return parked.untilAsked(call, answerApproved(context, call, sending, request.identity));
}

/** Answers a request. If the client must repeat it with answers, what a person has approved is kept until then. */
async function answerApproved(
  context: BridgeContext,
  call: ClientCall,
  received: Omit<ReceivedRequest, "onYes">,
  identity: string,
): Promise<JsonObject> {
  const { states } = context;
  let subject = received.confirmed;
  const onYes = (approved: string): void => {
    subject = approved;
  };
  const result = await answerRequest(context, call, { ...received, onYes });
  const isKept = subject !== undefined || states.includesServers;
  if (!isKept || result["resultType"] !== "input_required") return result;
  const state = stringOf(result["requestState"]);
  return { ...result, requestState: await states.store(identity, { subject, state }) };
}

/** The client, and in a team its user. */
function senderOf({ client, workspace }: BridgeContext): readonly unknown[] {
  const { principal } = workspace;
  return principal === undefined ? [client.name] : [[principal.tenant, principal.id], client.name];
}

async function discovered(context: BridgeContext, params: JsonObject): Promise<JsonObject> {
  const gateways = await meetGateways(context, params);
  const { serverInfo, capabilities, instructions } = await greet(context, "modern");
  return {
    resultType: "complete",
    ...uncached,
    supportedVersions: modernVersions,
    capabilities,
    instructions,
    _meta: { ...gateways, [`${prefix}serverInfo`]: serverInfo },
  };
}
