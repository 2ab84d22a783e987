/**
 * A replacement of the Gemini API and of Vertex AI on its own port. It applies the published and known rules, and a
 * script gives the answers.
 */

import type { IncomingHttpHeaders } from "node:http";
import { createFaults } from "../../authorization-server/faults.ts";
import { type WebRequest, webServer } from "../../web-server.ts";
import type { ModelFault } from "../faults.ts";
import { type Outcome, parseBody, watched } from "../incoming.ts";
import { type Reply, sendReply, wholeReply } from "../reply.ts";
import { geminiError, invalidArgument, keyMissing, keyRefused, modelUnknown } from "./errors.ts";
import { type GeminiBody, readAsked } from "./request.ts";
import { refusalOf } from "./rules/refusal.ts";
import type { Heard } from "./rules/rule.ts";
import { defaultGeminiSettings, type GeminiSettings } from "./settings.ts";
import { streamAnswer, tokensIn, wholeAnswer } from "./write.ts";

type GeminiEndpoint = "generate" | "models";

export interface GeminiRequest {
  readonly method: "generateContent" | "streamGenerateContent";
  readonly model: string;
  readonly api: "gemini" | "vertex";
  readonly headers: IncomingHttpHeaders;
  readonly body: GeminiBody;
  outcome: Outcome;
}

export interface GeminiApi extends AsyncDisposable {
  /** The address for `GOOGLE_GEMINI_BASE_URL` and `httpOptions.baseUrl`. */
  readonly baseUrl: string;
  readonly settings: GeminiSettings;
  /** Every request for an answer so far, in order. */
  readonly seen: readonly GeminiRequest[];
  /** Answers the next requests to this endpoint with the fault. Several faults apply in the order of the calls. */
  readonly interrupt: (endpoint: GeminiEndpoint, fault: ModelFault, times?: number) => void;
}

interface Route {
  readonly method: GeminiRequest["method"];
  readonly model: string;
  readonly api: GeminiRequest["api"];
}

export async function geminiApi({
  port,
  ...changes
}: Partial<GeminiSettings> & { readonly port?: number } = {}): Promise<GeminiApi> {
  const settings: GeminiSettings = { ...defaultGeminiSettings(), ...changes };
  const seen: GeminiRequest[] = [];
  const signatures = new Set<string>();
  const faults = createFaults<GeminiEndpoint, ModelFault>();
  let ids = 0;
  const nextId = () => {
    ids += 1;
    return settings.hasCallIds ? `call-${ids}` : undefined;
  };

  const web = await webServer(
    (request, response) => {
      const route = routeOf(request);
      const body = parseBody<GeminiBody>(request.body);
      if (route)
        seen.push(watched({ ...route, headers: request.headers, body: body ?? {}, outcome: "open" }, response));
      const usual = async () => (route ? generate(route, body, request.headers) : listModels(request));
      const fault = faults.take(route ? "generate" : "models");
      if (fault) return fault(request, response, usual);
      void usual().then((reply) => sendReply(response, reply, settings.bytesPerWrite));
    },
    port === undefined ? {} : { port },
  );

  function generate(route: Route, body: GeminiBody | undefined, headers: IncomingHttpHeaders): Reply {
    if (!body) return invalidArgument("Invalid JSON payload received.");
    const heard: Heard = { api: route.api, body, settings, signatures, inputTokens: tokensIn(JSON.stringify(body)) };
    const refusal = identityRefusal(route, headers) ?? refusalOf(heard);
    if (refusal) return refusal;
    const write = route.method === "generateContent" ? wholeAnswer : streamAnswer;
    try {
      return write(settings.answer(readAsked(route.model, body)), {
        model: route.model,
        inputTokens: heard.inputTokens,
        nextId,
        signsText: settings.signsText,
        nextSignature: () => (settings.hasSignatures ? sign(signatures) : undefined),
      });
    } catch (error) {
      return geminiError(501, "UNIMPLEMENTED", String(error));
    }
  }

  function identityRefusal({ api, model }: Route, headers: IncomingHttpHeaders): Reply | undefined {
    const key = headers["x-goog-api-key"];
    if (api === "gemini" && key === undefined) return keyMissing();
    if (api === "gemini" && key !== settings.apiKey) return keyRefused();
    if (api === "vertex" && key === undefined && !headers.authorization) return keyMissing();
    return settings.models.includes(model) ? undefined : modelUnknown(model);
  }

  function listModels({ path }: WebRequest): Reply {
    if (!/^\/v1(beta1?)?\/models(\?|$)/.test(path)) return geminiError(404, "NOT_FOUND", "Not found.");
    const models = settings.models.map((model) => ({
      name: `models/${model}`,
      supportedGenerationMethods: ["generateContent", "countTokens"],
    }));
    const embedding = { name: "models/gemini-embedding", supportedGenerationMethods: ["embedContent"] };
    return wholeReply({ models: [...models, embedding] });
  }

  return {
    baseUrl: web.origin,
    settings,
    seen,
    interrupt: (endpoint, fault, times = 1) => faults.add(endpoint, fault, times),
    [Symbol.asyncDispose]: () => web[Symbol.asyncDispose](),
  };
}

const generating =
  /^\/v1(?:beta1?)?\/(projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/google\/)?models\/([^/:]+):(generateContent|streamGenerateContent)(?:\?|$)/;

function routeOf({ method, path }: WebRequest): Route | undefined {
  const [, project, model, asked] = (method === "POST" && generating.exec(path)) || [];
  if (model === undefined) return undefined;
  return {
    method: asked === "generateContent" ? "generateContent" : "streamGenerateContent",
    model,
    api: project === undefined && !path.includes("/publishers/") ? "gemini" : "vertex",
  };
}

function sign(signatures: Set<string>): string {
  const signature = Buffer.from(`signature ${signatures.size + 1}`).toString("base64");
  signatures.add(signature);
  return signature;
}
