// How a tool asks its client: with requests in the legacy era, with `input_required` results in the modern era.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { codes, isObject, RpcError, ToolFailure } from "./rpc-error.mjs";

/** For each kind of question, the capability that the client needs, and a check of the answer's form. */
const kinds = {
  "elicitation/create": { capability: "elicitation", isAnswer: (answer) => typeof answer.action === "string" },
  "sampling/createMessage": { capability: "sampling", isAnswer: (answer) => isObject(answer.content) },
  "roots/list": { capability: "roots", isAnswer: (answer) => Array.isArray(answer.roots) },
};

/** Thrown to end a modern request with questions. */
export class InputRequired extends Error {
  constructor(result) {
    super("the client must answer questions first");
    this.result = result;
  }
}

/** Asks a legacy client. `ask` takes an object of requests by key, and returns an object of answers by key. */
export function legacyQuestions({ capabilities, request }) {
  return {
    hasState: true,
    capabilities,
    async ask(requests) {
      const [missing] = missingIn(requests, capabilities);
      if (missing !== undefined) throw new ToolFailure(`The client does not declare ${missing}.`);
      const answers = Object.entries(requests).map(async ([key, { method, params }]) => [
        key,
        await request(method, params),
      ]);
      return Object.fromEntries(await Promise.all(answers));
    },
  };
}

/**
 * Asks a modern client. The server keeps no state in the modern era, so earlier answers are in the signed
 * `requestState`.
 * @param subject The tool or prompt. A state is valid only for the same subject.
 */
export function modernQuestions({ capabilities, params, subject }) {
  const { inputResponses = {}, requestState } = params;
  if (!isObject(inputResponses)) throw new RpcError(codes.invalidParams, "inputResponses must be an object");
  /** The answers of all rounds so far. */
  const answers = requestState === undefined ? {} : verify(requestState, subject);
  return {
    hasState: requestState !== undefined,
    capabilities,
    async ask(requests) {
      const undeclared = missingIn(requests, capabilities);
      if (undeclared.length > 0)
        throw new RpcError(codes.missingCapability, `the client does not declare ${undeclared.join(", ")}`, {
          requiredCapabilities: Object.fromEntries(undeclared.map((name) => [name, {}])),
        });
      Object.assign(answers, pick(inputResponses, requests));
      const open = Object.entries(requests).filter(([key]) => answers[key] === undefined);
      if (open.length === 0) return { ...answers };
      throw new InputRequired({
        resultType: "input_required",
        inputRequests: Object.fromEntries(open),
        requestState: sign({ subject, answers }),
      });
    },
  };
}

function missingIn(requests, capabilities) {
  const needed = new Set(Object.values(requests).map(({ method }) => kinds[method].capability));
  return [...needed].filter((name) => capabilities[name] === undefined);
}

/** Returns the answers to these requests that have the right form. Other answers are requested again, or ignored. */
function pick(responses, requests) {
  const isAnswer = ([key, answer]) =>
    requests[key] !== undefined && isObject(answer) && kinds[requests[key].method].isAnswer(answer);
  return Object.fromEntries(Object.entries(responses).filter(isAnswer));
}

const secret = randomBytes(32);

function sign(value) {
  const text = Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

function verify(state, subject) {
  const [text, signature = "", ...rest] = String(state).split(".");
  const expected = createHmac("sha256", secret).update(text).digest("base64url");
  const hasSignature = rest.length === 0 && signature.length === expected.length;
  if (hasSignature && timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) {
    const value = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (value.subject === subject) return value.answers;
  }
  throw new RpcError(codes.invalidParams, "the requestState is not one of this server", {
    reason: "invalid_request_state",
  });
}
