/** Reads the bytes of a block of a result, and keeps an address for them as long as they are shown. */

import { useEffect, useState } from "preact/hooks";
import { type Loaded, toCommandError, useApp } from "../../app.ts";

/** The image types that are shown. A browser draws an SVG inside of `<img>` without running its scripts. */
export const imageTypes: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/svg+xml",
]);

export interface BlockPlace {
  readonly call: string;
  /** The JSON pointer of the block. */
  readonly path: string;
}

/** Reads the bytes. `type`: the type that the browser gets; a block's own type is the server's claim. */
export async function readBlob(
  { api }: Pick<ReturnType<typeof useApp>, "api">,
  block: BlockPlace,
  type?: string,
): Promise<Blob> {
  const { base64, type: claimed } = await api.run("calls/blob", { ...block });
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new Blob([bytes], { type: type ?? claimed });
}

/** Reads the bytes at once, and returns an address for them. Undefined `type`: they are not read. */
export function useBlobUrl(
  { call, path }: BlockPlace,
  type: string | undefined,
): Pick<Loaded<string>, "value" | "error"> {
  const app = useApp();
  const [read, setRead] = useState<Pick<Loaded<string>, "value" | "error">>({});
  useEffect(() => {
    if (type === undefined) return undefined;
    let url: string | undefined;
    let isGone = false;
    readBlob(app, { call, path }, type).then(
      (blob) => {
        if (isGone) return;
        url = URL.createObjectURL(blob);
        setRead({ value: url });
      },
      (error: unknown) => setRead({ error: toCommandError(error) }),
    );
    return () => {
      isGone = true;
      if (url !== undefined) URL.revokeObjectURL(url);
    };
  }, [app, call, path, type]);
  return read;
}
