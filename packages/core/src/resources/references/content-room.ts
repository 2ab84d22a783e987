/** The room that all contents of one prompt share: whoever comes first has the most of it. */

import type { Block } from "@fairlead/wire";
import { byteLength } from "../../normalise/content/base64.ts";
import { type ContentLimits, contentLimits, type Fitted, fitBlocks } from "../../normalise/content/fit.ts";

export interface ContentRoom {
  /** @param giver How our sentences name whoever gave it. */
  readonly fit: (blocks: readonly Block[], giver: string) => Fitted;
}

export function createContentRoom(limits: Partial<ContentLimits> = {}): ContentRoom {
  let { partCharacters, totalCharacters, inlineBytes, blocks: most } = { ...contentLimits, ...limits };
  return {
    fit(blocks, giver) {
      const fitted = fitBlocks(blocks, giver, { partCharacters, totalCharacters, inlineBytes, blocks: most });
      for (const { text = "", inlineData } of fitted.parts) {
        totalCharacters -= text.length;
        inlineBytes -= byteLength(inlineData?.data ?? "");
      }
      most = Math.max(0, most - blocks.length);
      return fitted;
    },
  };
}
