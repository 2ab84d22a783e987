/** The pictures and sounds of a result in files: not every terminal can show them, and none can be asked for them later. */

import { HostError } from "@fairlead/core/errors";
import { keepResult } from "@fairlead/core/files/result-files";
import { extensionOf, toMediaType } from "@fairlead/core/normalise/content/media-type";
import type { TurnEvent } from "@fairlead/core/turn/events";

/** `warn` is told why something could not be kept; the result counts all the same. */
export async function keepMedia(event: TurnEvent, state: string, warn: (text: string) => void): Promise<TurnEvent> {
  if (event.type !== "call" || event.media === undefined) return event;
  const files: string[] = [...(event.files ?? [])];
  for (const { mimeType, data } of event.media) {
    const extension = extensionOf(toMediaType(mimeType));
    try {
      files.push(await keepResult(state, { extension, data, encoding: "base64" }));
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      warn(error.message);
    }
  }
  return { ...event, files };
}
