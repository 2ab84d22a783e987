/**
 * A replacement of OpenAI's chat completions and responses on its own port, with the list of models that Ollama also
 * offers.
 */

import type { IncomingHttpHeaders } from "node:http";
import { createFaults } from "../../authorization-server/faults.ts";
import { type WebRequest, webServer } from "../../web-server.ts";
import type { ModelFault } from "../faults.ts";
import { type Outcome, parseBody, watched } from "../incoming.ts";
import { type Reply, sendReply, wholeReply } from "../reply.ts";
import { openaiError } from "./errors.ts";
import { type OpenaiBody, readAsked } from "./request.ts";
import { type ResponsesBody, responsesReply } from "./responses.ts";
import { type Heard, refusalOf } from "./rules.ts";
import { defaultOpenaiSettings, type OpenaiSettings } from "./settings.ts";
import { streamAnswer, wholeAnswer } from "./write.ts";

type OpenaiEndpoint = "chat" | "responses" | "models" | "tags";

export interface OpenaiRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: OpenaiBody;
  outcome: Outcome;
}

export interface OpenaiApi extends AsyncDisposable {
  /** For `OPENAI_BASE_URL`. */
  readonly baseUrl: string;
  /** The address of the server itself, where Ollama's own paths begin. */
  readonly origin: string;
  readonly settings: OpenaiSettings;
  /** Every request for an answer so far, in order. */
  readonly seen: readonly OpenaiRequest[];
  /** Every request so far, including those to the other endpoints. */
  readonly requests: readonly WebRequest[];
  /** Answers the next requests to this endpoint with the fault. Several faults apply in the order of the calls. */
  readonly interrupt: (endpoint: OpenaiEndpoint, fault: ModelFault, times?: number) => void;
}

const endpoints: ReadonlyMap<string, OpenaiEndpoint> = new Map([
  ["POST /v1/chat/completions", "chat"],
  ["POST /v1/responses", "responses"],
  ["GET /v1/models", "models"],
  ["GET /api/tags", "tags"],
]);

export async function openaiApi({
  port,
  ...changes
}: Partial<OpenaiSettings> & { readonly port?: number } = {}): Promise<OpenaiApi> {
  const settings: OpenaiSettings = { ...defaultOpenaiSettings(), ...changes };
  const seen: OpenaiRequest[] = [];
  const faults = createFaults<OpenaiEndpoint, ModelFault>();
  let ids = 0;
  const nextId = () => {
    ids += 1;
    return `call_${ids}`;
  };

  const web = await webServer(
    (request, response) => {
      const endpoint = endpoints.get(`${request.method} ${request.path}`);
      if (!endpoint)
        return void sendReply(response, openaiError(404, `Invalid URL (${request.method} ${request.path})`));
      const body = endpoint === "chat" ? parseBody<OpenaiBody>(request.body) : {};
      if (endpoint === "chat")
        seen.push(watched({ headers: request.headers, body: body ?? {}, outcome: "open" }, response));
      const usual = async () =>
        endpoint === "responses"
          ? responsesReply(parseBody<ResponsesBody>(request.body) ?? {}, settings.answer, nextId)
          : replyTo(endpoint, request.headers, body);
      const fault = faults.take(endpoint);
      if (fault) return fault(request, response, usual);
      void usual().then((reply) => sendReply(response, reply, settings.bytesPerWrite));
    },
    port === undefined ? {} : { port },
  );

  function replyTo(
    endpoint: Exclude<OpenaiEndpoint, "responses">,
    headers: IncomingHttpHeaders,
    body: OpenaiBody | undefined,
  ): Reply {
    const { apiKey, models } = settings;
    if (endpoint === "tags") return wholeReply({ models: models.map((name) => ({ name, model: name })) });
    if (apiKey !== undefined && headers.authorization !== `Bearer ${apiKey}`)
      return openaiError(401, "Incorrect API key provided.", { code: "invalid_api_key" });
    if (endpoint === "models")
      return wholeReply({ object: "list", data: models.map((id) => ({ id, object: "model" })) });
    return body ? chat(body) : openaiError(400, "We could not parse the JSON body of your request.");
  }

  function chat(body: OpenaiBody): Reply {
    const { model = "" } = body;
    if (!settings.models.includes(model))
      return openaiError(404, `The model \`${model}\` does not exist or you do not have access to it.`, {
        code: "model_not_found",
      });
    const heard: Heard = { body, settings, inputTokens: Math.ceil(JSON.stringify(body).length / 4) };
    const refusal = refusalOf(heard);
    if (refusal) return refusal;
    const write = body.stream ? streamAnswer : wholeAnswer;
    try {
      return write(settings.answer(readAsked(body)), {
        model,
        settings,
        inputTokens: heard.inputTokens,
        hasUsage: body.stream_options?.include_usage === true,
        nextId,
      });
    } catch (error) {
      return openaiError(501, String(error), { type: "server_error" });
    }
  }

  return {
    baseUrl: `${web.origin}/v1`,
    origin: web.origin,
    settings,
    seen,
    requests: web.seen,
    interrupt: (endpoint, fault, times = 1) => faults.add(endpoint, fault, times),
    [Symbol.asyncDispose]: () => web[Symbol.asyncDispose](),
  };
}
