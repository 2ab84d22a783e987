/**
 * Answers requests of modern clients (version 2026-07-28). To ask such a client something, the gateway answers its
 * request with `input_required`.
 */

import { hash } from "node:crypto";
import { canonicalJson } from "@fairlead/core/plain-text";
import type { JsonObject } from "@fairlead/wire";
import { member, objectOf, stringOf } from "@fairlead/wire/json";
import { modernVersions, type ServedClient, type ServedRequest } from "@fairlead/wire/serve";
import { approvalAnswer } from "../questions/approval-request.ts";
import type { ClientCall } from "../questions/client-call.ts";
import { isParkedState, type ModernRequest } from "../questions/parked-calls.ts";
import { hasAgreed } from "../questions/sign-in-request.ts";
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
  const signIn = context.signIns && readSignIn(opened?.state);
  const call = parked.open(request);
  // The answer about an approval is for the gateway, so the server gets the request as it was first.
  const approval = opened && approvalAnswer(inputResponses);
  if (approval === "refused")
    throw rpcError(rpcCodes.refused, "the request needs approval, and the user did not agree to open the page", {
      reason: "needs_approval",
    });
  const answered =
    opened === undefined ? params : { ...asked, inputResponses, requestState: serverState(context, opened.state) };
  const sent = approval === undefined ? answered : asked;
  if (method === "subscriptions/listen") return parked.untilAsked(call, listenToChanges(context, call, sent));
  const confirmed = opened?.subject;
  if (signIn === undefined)
    return parked.untilAsked(
      call,
      answerApproved(context, call, { method, params: sent, confirmed }, request.identity),
    );
  // The answer about a sign-in is for the gateway, so the server gets the request as it was first.
  const sending = { method, params: asked, confirmed };
  const answering = waitForSignIn(context, call, signIn, inputResponses).then(() =>
    answerApproved(context, call, sending, request.identity),
  );
  return parked.untilAsked(call, answering);
}

/** Answers a request. If the client must repeat it with answers, what a person has approved is kept until then. */
async function answerApproved(
  context: BridgeContext,
  call: ClientCall,
  received: Omit<ReceivedRequest, "onYes" | "onSignIn">,
  identity: string,
): Promise<JsonObject> {
  const { states } = context;
  let subject = received.confirmed;
  const onYes = (approved: string): void => {
    subject = approved;
  };
  let signIn: string | undefined;
  const onSignIn = (server: string): void => {
    signIn = server;
  };
  const result = await answerRequest(context, call, { ...received, onYes, onSignIn });
  const isKept = subject !== undefined || signIn !== undefined || states.includesServers;
  if (!isKept || result["resultType"] !== "input_required") return result;
  const given = stringOf(result["requestState"]);
  const own = context.signIns === undefined ? given : given && `${ofServer}${given}`;
  const state = signIn === undefined ? own : `${ofSignIn}${context.now()} ${signIn}`;
  return { ...result, requestState: await states.store(identity, { subject, state }) };
}

/** In a team, a stored state begins with whose it is: the server's own one, or that of a question about a sign-in. */
const ofServer = "server ";
const ofSignIn = "sign-in ";

function serverState({ signIns }: BridgeContext, state: string | undefined): string | undefined {
  return signIns === undefined ? state : state?.slice(ofServer.length);
}

interface AskedSignIn {
  readonly server: string;
  /** In milliseconds since 1970. */
  readonly at: number;
}

function readSignIn(state: string | undefined): AskedSignIn | undefined {
  if (state?.startsWith(ofSignIn) !== true) return undefined;
  const [at = ""] = state.slice(ofSignIn.length).split(" ", 1);
  return { server: state.slice(ofSignIn.length + at.length + 1), at: Number(at) };
}

/**
 * Waits until the user has signed in: a client repeats the request as soon as its user has agreed to open the page.
 *
 * @throws WireError if the user does not want to
 */
async function waitForSignIn(
  { signIns, workspace: { principal } }: BridgeContext,
  call: ClientCall,
  { server, at }: AskedSignIn,
  inputResponses: unknown,
): Promise<void> {
  if (signIns === undefined || principal === undefined) return;
  if (!hasAgreed(inputResponses))
    throw rpcError(rpcCodes.refused, `"${server}" requires sign-in, and the user did not agree to sign in`, {
      reason: "auth_required",
      server,
    });
  await signIns.waitFor(principal, server, at, call.signal);
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
