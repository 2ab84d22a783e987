/** Reads the events of a streamed answer of a model's API. */

import { createParser } from "eventsource-parser";

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
