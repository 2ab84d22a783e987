/** Saves the images and audio of a result in files, because most terminals cannot show them. */

import { HostError } from "@fairlead/core/errors";
import { keepResult } from "@fairlead/core/files/result-files";
import { extensionOf, toMediaType } from "@fairlead/core/normalise/content/media-type";
import type { TurnEvent } from "@fairlead/core/turn/events";

/** Calls `warn` for media that cannot be saved; the result is used all the same. */
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
