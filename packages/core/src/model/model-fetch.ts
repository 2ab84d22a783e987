/** The `fetch` for models' APIs: uses the user's proxy, and limits the size of answers and the time without data. */

import { proxyFor, webExchange } from "@fairlead/wire/web-exchange";
import { createParser } from "eventsource-parser";
import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Fetch } from "../net/bounded-fetch.ts";
import { toFetchError } from "../net/fetch-failure.ts";
import type { Environment } from "../settings/read/paths.ts";
import { sizeWords } from "../text/size-words.ts";

/** The longest time without data, in milliseconds. It is long, because a local model may have to be loaded first. */
const defaultTimeout = 600_000;
const withoutBody = new Set([204, 205, 304]);

/**
 * Creates the `fetch`. It follows no redirects, so that no other server gets the key.
 *
 * Every error of the returned function is a `HostError`; its code is `lost` for an answer that is cut off.
 */
export function createModelFetch(options: {
  readonly env: Environment["env"];
  readonly clock: Clock;
  readonly timeout?: number;
}): Fetch {
  const { env, clock, timeout = defaultTimeout } = options;
  return async (address, init = {}) => {
    const url = new URL(address);
    const watch = watchSilence(clock, timeout);
    const signals = [watch.signal, init.signal].filter((signal) => signal instanceof AbortSignal);
    const toError = (error: unknown): HostError => {
      if (init.signal?.aborted === true) return new HostError("cancelled", "cancelled");
      if (!watch.signal.aborted) return toFetchError(error, url.origin);
      return new HostError("model", `${url.origin} sent no data for ${Math.round(timeout / 1000)} s`);
    };
    const toCut = (error: unknown): HostError => {
      const failure = toError(error);
      return failure.code === "unreachable" ? new HostError("lost", failure.message, { cause: error }) : failure;
    };
    try {
      const answer = await webExchange({
        url,
        method: init.method ?? "GET",
        headers: { accept: "*/*", "user-agent": "fairlead", ...Object.fromEntries(new Headers(init.headers)) },
        body: typeof init.body === "string" ? Buffer.from(init.body) : undefined,
        signal: AbortSignal.any(signals),
        proxy: proxyFor(url, env),
      });
      const { status, statusText } = answer;
      const headers = new Headers();
      for (let at = 0; at + 1 < answer.headers.length; at += 2)
        headers.append(answer.headers[at] ?? "", answer.headers[at + 1] ?? "");
      const end = (): void => {
        init.signal?.removeEventListener("abort", end);
        watch.end();
        answer.close();
      };
      /**
       * A reader may stop early without cancelling the body. The abort signal then ends the timer and the connection.
       */
      init.signal?.addEventListener("abort", end, { once: true });
      if (init.signal?.aborted === true) end();
      if (withoutBody.has(status)) end();
      const body = withoutBody.has(status) ? null : readThrough(answer.body, () => watch.restart(), end, toCut);
      return new Response(body, { status, statusText, headers });
    } catch (error) {
      watch.end();
      throw toError(error);
    }
  };
}

async function* readThrough(
  body: AsyncIterable<Buffer>,
  heard: () => void,
  end: () => void,
  toError: (error: unknown) => HostError,
): AsyncGenerator<Buffer, void, undefined> {
  let size = 0;
  try {
    for await (const chunk of body) {
      heard();
      size += chunk.length;
      if (size > limits.modelAnswerBytes)
        throw new HostError("model", `the model's answer is larger than ${sizeWords(limits.modelAnswerBytes)}`);
      yield chunk;
    }
  } catch (error) {
    throw toError(error);
  } finally {
    end();
  }
}

function watchSilence(clock: Clock, timeout: number) {
  const silence = new AbortController();
  const begin = (): (() => void) => clock.after(timeout, () => silence.abort());
  let callOff = begin();
  let isOver = false;
  return {
    signal: silence.signal,
    restart() {
      callOff();
      // Data that has already arrived may still be read after `end`, but reading it must not start the timer again.
      if (!isOver) callOff = begin();
    },
    end() {
      isOver = true;
      callOff();
    },
  };
}

/** The data of each event. If the endpoint answers with JSON instead of events, yields the JSON document. */
export async function* eventDataIn(response: Response): AsyncGenerator<string, void, undefined> {
  if (response.body === null) return;
  if (/\bjson\b/i.test(response.headers.get("content-type") ?? "")) {
    yield await response.text();
    return;
  }
  const ready: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => ready.push(data) });
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* ready.splice(0);
  }
  // Some endpoints omit the blank line after the last event.
  parser.feed("\n\n");
  yield* ready.splice(0);
}
