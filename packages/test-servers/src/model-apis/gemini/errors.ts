/** The errors of the Gemini API: google.rpc.Status as JSON. */

import { type Reply, wholeReply } from "../reply.ts";

type Detail = Readonly<Record<string, unknown>>;

export function geminiError(code: number, status: string, message: string, details: readonly Detail[] = []): Reply {
  return wholeReply({ error: { code, message, status, ...(details.length > 0 && { details }) } }, code);
}

export function invalidArgument(message: string, details: readonly Detail[] = []): Reply {
  return geminiError(400, "INVALID_ARGUMENT", message, details);
}

/** The error for invalid JSON members, each with its field (in the form of zed #44875). */
export function badPayload(violations: readonly { readonly field: string; readonly description: string }[]): Reply {
  const message = violations.map(({ description }) => description).join("\n");
  return invalidArgument(message, [
    { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: violations },
  ]);
}

/**
 * The error for an exceeded quota, as in python-genai #2044: no header, only a RetryInfo, whose delay may have
 * fractions. "day": waiting does not help.
 */
export function quotaExceeded({ delay, per = "minute" }: { delay?: string; per?: "minute" | "day" } = {}): Reply {
  const metric = "generativelanguage.googleapis.com/generate_content_free_tier_requests";
  const quotaId = `GenerateRequestsPer${per === "day" ? "Day" : "Minute"}PerProjectPerModel-FreeTier`;
  const message = `You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: ${metric}, limit: 20`;
  const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: delay };
  return geminiError(429, "RESOURCE_EXHAUSTED", delay ? `${message}\nPlease retry in ${delay}.` : message, [
    {
      "@type": "type.googleapis.com/google.rpc.Help",
      links: [
        { description: "Learn more about Gemini API quotas", url: "https://ai.google.dev/gemini-api/docs/rate-limits" },
      ],
    },
    { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaMetric: metric, quotaId }] },
    ...(delay ? [retry] : []),
  ]);
}

export function internalError(): Reply {
  return geminiError(
    500,
    "INTERNAL",
    "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
  );
}

export function overloaded(): Reply {
  return geminiError(503, "UNAVAILABLE", "The model is overloaded. Please try again later.");
}

export function keyRefused(): Reply {
  return invalidArgument("API key not valid. Please pass a valid API key.", [
    {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "API_KEY_INVALID",
      domain: "googleapis.com",
      metadata: { service: "generativelanguage.googleapis.com" },
    },
  ]);
}

export function keyMissing(): Reply {
  return geminiError(
    403,
    "PERMISSION_DENIED",
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
  );
}

export function modelUnknown(model: string): Reply {
  return geminiError(
    404,
    "NOT_FOUND",
    `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`,
  );
}
