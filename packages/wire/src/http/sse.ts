/**
 * The HTTP+SSE transport of protocol version 2024-11-05. The server sends all messages on one GET stream, and its first
 * event contains the URL for POST requests.
 */

import { WireError } from "../errors.ts";
import type { Channel, ChannelEvents, ChannelSendOptions, OpenChannel, RpcMessage } from "../rpc/channel.ts";
import { createReadBudget } from "../rpc/read-budget.ts";
import { parseUrl } from "../shapes/text.ts";
import type { HttpTarget } from "../target.ts";
import { createEventReader } from "./event-reader.ts";
import type { StreamEvent } from "./event-stream.ts";
import type { HttpChannelOptions } from "./http.ts";
import { kindOf, refusalOf, statusError, toBody } from "./http-answer.ts";
import { createHttpClient, discard, type HttpClient, readStart } from "./http-client.ts";

/** Returns the function that opens the GET stream and waits for its `endpoint` event. */
export function openSse(target: HttpTarget, options: HttpChannelOptions): OpenChannel {
  return async (events, signal) => {
    const client = await createHttpClient(target, options);
    try {
      return await startStream(new URL(target.url), client, events, options, signal);
    } catch (error) {
      client.close();
      throw error;
    }
  };
}

async function startStream(
  url: URL,
  client: HttpClient,
  events: ChannelEvents,
  { limits, times, time, largeMessages }: HttpChannelOptions,
  opening: AbortSignal | undefined,
): Promise<Channel> {
  const life = new AbortController();
  const stopOpening = (): void => life.abort();
  opening?.addEventListener("abort", stopOpening, { once: true });

  const answer = await client.request({
    url,
    method: "GET",
    headers: { accept: "text/event-stream" },
    stop: life.signal,
    repeatable: true,
  });
  if (answer.status < 200 || answer.status > 299) throw await refusalOf(answer, limits.messageBytes);
  if (kindOf(answer) !== "events") throw statusError(answer, await readStart(answer.body));

  const budget = createReadBudget({ limits, times, time, largeMessages, onFlooding: end });
  let version: string | undefined;
  let ended = false;
  let named: (endpoint: URL) => void = () => {};
  let failed: (error: WireError) => void = () => {};
  const endpoint = new Promise<URL>((resolve, reject) => {
    named = resolve;
    failed = reject;
  });

  function end(cause: WireError | undefined): void {
    if (ended) return;
    ended = true;
    failed(cause ?? new WireError("closed", "the connection was closed"));
    budget.stop();
    life.abort();
    client.close();
    events.closed(cause);
  }

  function takeEndpoint({ event, data }: StreamEvent): boolean {
    if (event !== "endpoint") return false;
    const address = parseUrl(data, url);
    // Requests contain secrets in their headers, so they must not go to another origin.
    if (address?.origin === url.origin) named(address);
    else {
      const firstBytes = data.slice(0, 200);
      end(new WireError("bad_message", "the server's endpoint event names a URL on another origin", { firstBytes }));
    }
    return true;
  }

  const reader = createEventReader({ events, maxBytes: limits.messageBytes, budget, time, takeOther: takeEndpoint });
  reader.read(answer.body, 0).then(
    () => end(new WireError("stream_lost", "the server ended its event stream")),
    (error: WireError) => end(life.signal.aborted ? undefined : error),
  );

  let address = await endpoint;
  opening?.removeEventListener("abort", stopOpening);

  return {
    cancelBy: "message",
    setProtocolVersion(negotiated) {
      version = negotiated;
    },
    async send(message: RpcMessage, how: ChannelSendOptions = {}) {
      if (ended) throw new WireError("closed", "the connection is closed", { unsent: true });
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const accepted = await client.request({
        url: address,
        method: "POST",
        headers: Object.assign(headers, version && { "mcp-protocol-version": version }, how.headers),
        body: toBody(message),
        stop: how.stop ?? how.signal,
        repeatable: message["method"] !== "tools/call",
      });
      // Redirects of tool calls are not followed, so later messages go to the URL that answered the handshake.
      if (message["method"] === "initialize" && accepted.status < 300) address = accepted.url;
      if (accepted.status < 200 || accepted.status > 299) throw await refusalOf(accepted, limits.messageBytes);
      discard(accepted.body);
    },
    close: async () => end(undefined),
  };
}
