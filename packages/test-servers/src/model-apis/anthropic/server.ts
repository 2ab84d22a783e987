/** A replacement of Anthropic's messages API on its own port, with the list of models. */

import type { IncomingHttpHeaders } from "node:http";
import { createFaults } from "../../authorization-server/faults.ts";
import { type WebRequest, webServer } from "../../web-server.ts";
import type { ModelFault } from "../faults.ts";
import { parseBody } from "../incoming.ts";
import { type Reply, sendReply, wholeReply } from "../reply.ts";
import { anthropicError } from "./errors.ts";
import { type AnthropicBody, readAsked } from "./request.ts";
import { faultOf } from "./rules.ts";
import { type AnthropicSettings, defaultAnthropicSettings } from "./settings.ts";
import { createThoughts } from "./thoughts.ts";
import { streamAnswer, wholeAnswer } from "./write.ts";

type AnthropicEndpoint = "messages" | "models";

export interface AnthropicApi extends AsyncDisposable {
  /** For `ANTHROPIC_BASE_URL`. */
  readonly baseUrl: string;
  readonly settings: AnthropicSettings;
  /** Every request for an answer so far, in order. */
  readonly seen: readonly AnthropicBody[];
  /** Every request so far, including those to the other endpoints. */
  readonly requests: readonly WebRequest[];
  /** Answers the next requests to this endpoint with the fault. Several faults apply in the order of the calls. */
  readonly interrupt: (endpoint: AnthropicEndpoint, fault: ModelFault, times?: number) => void;
}

const endpoints: ReadonlyMap<string, AnthropicEndpoint> = new Map([
  ["POST /v1/messages", "messages"],
  ["GET /v1/models", "models"],
]);

export async function anthropicApi(changes: Partial<AnthropicSettings> = {}): Promise<AnthropicApi> {
  const settings: AnthropicSettings = { ...defaultAnthropicSettings(), ...changes };
  const seen: AnthropicBody[] = [];
  const thoughts = createThoughts();
  const faults = createFaults<AnthropicEndpoint, ModelFault>();
  let ids = 0;
  const nextId = (): string => {
    ids += 1;
    return `toolu_${ids}`;
  };

  const web = await webServer((request, response) => {
    const endpoint = endpoints.get(`${request.method} ${request.path.replace(/\?.*/, "")}`);
    const body = parseBody<AnthropicBody>(request.body);
    if (endpoint === "messages" && body) seen.push(body);
    const usual = async () => replyTo(endpoint, request.headers, body);
    const fault = endpoint && faults.take(endpoint);
    if (fault) return fault(request, response, usual);
    void usual().then((reply) => sendReply(response, reply, settings.bytesPerWrite));
  });

  function replyTo(
    endpoint: AnthropicEndpoint | undefined,
    headers: IncomingHttpHeaders,
    body: AnthropicBody | undefined,
  ): Reply {
    if (endpoint === undefined) return anthropicError(404, "not_found_error", "Not found");
    if (headers["x-api-key"] !== settings.apiKey)
      return anthropicError(401, "authentication_error", "invalid x-api-key");
    if (headers["anthropic-version"] !== "2023-06-01")
      return anthropicError(400, "invalid_request_error", "anthropic-version: header is required");
    if (endpoint === "models") {
      const data = settings.models.map((id) => ({ type: "model", id, display_name: id }));
      return wholeReply({ data, has_more: false, first_id: data[0]?.id, last_id: data.at(-1)?.id });
    }
    return body ? answer(body) : anthropicError(400, "invalid_request_error", "The request body is not valid JSON");
  }

  function answer(body: AnthropicBody): Reply {
    const { model = "", stream = false } = body;
    const fault = faultOf({ body, settings, thoughts });
    if (fault !== undefined) return anthropicError(400, "invalid_request_error", fault);
    if (!settings.knows(model)) return anthropicError(404, "not_found_error", `model: ${model}`);
    const isCached = JSON.stringify(body.messages).includes("cache_control") && seen.length > 1;
    const inputTokens = Math.ceil(JSON.stringify(body).length / 4);
    const cachedTokens = isCached ? Math.floor(inputTokens / 2) : 0;
    try {
      return (stream ? streamAnswer : wholeAnswer)(settings.answer(readAsked(body)), {
        model,
        inputTokens,
        cachedTokens,
        nextId,
        settings,
        thoughts,
      });
    } catch (error) {
      return anthropicError(501, "api_error", String(error));
    }
  }

  return {
    baseUrl: web.origin,
    settings,
    seen,
    requests: web.seen,
    interrupt: (endpoint, fault, times = 1) => faults.add(endpoint, fault, times),
    [Symbol.asyncDispose]: () => web[Symbol.asyncDispose](),
  };
}
